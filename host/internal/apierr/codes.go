package apierr

import "net/http"

// The codes, one a line: its name on the wire and its HTTP status.
var (
	Internal = Code{"internal", http.StatusInternalServerError, TypeInternal}

	// Bodies, fields and parameters of any route.
	BadRequest         = field("bad_request")
	MissingPayload     = field("missing_payload")
	MalformedPayload   = field("malformed_payload")
	MissingContentType = invalid("missing_content_type", http.StatusUnsupportedMediaType)
	InvalidContentType = invalid("invalid_content_type", http.StatusUnsupportedMediaType)
	PayloadTooLarge    = invalid("payload_too_large", http.StatusRequestEntityTooLarge)
	HeadersTooLarge    = invalid("headers_too_large", http.StatusRequestHeaderFieldsTooLarge)
	NotFound           = invalid("not_found", http.StatusNotFound)
	RequestTimeout     = invalid("request_timeout", http.StatusRequestTimeout)
	ShuttingDown       = Code{"shutting_down", http.StatusServiceUnavailable, TypeSystem}
	MethodNotAllowed   = invalid("method_not_allowed", http.StatusMethodNotAllowed)

	// A cluster.
	ClusterNoLeader   = Code{"cluster_no_leader", http.StatusServiceUnavailable, TypeSystem}
	ClusterUnknown    = Code{"cluster_unknown", http.StatusServiceUnavailable, TypeSystem}
	ClusterBehind     = Code{"cluster_behind", http.StatusServiceUnavailable, TypeSystem}
	ClusterStale      = Code{"cluster_stale", http.StatusServiceUnavailable, TypeSystem}
	ClusterHalted     = Code{"cluster_halted", http.StatusServiceUnavailable, TypeSystem}
	InvalidClusterSeq = field("invalid_cluster_seq")

	FeatureNotEnabled = field("feature_not_enabled")

	// Authorization.
	MissingAuthorizationHeader = Code{"missing_authorization_header", http.StatusUnauthorized, TypeAuth}
	MissingMasterKey           = Code{"missing_master_key", http.StatusUnauthorized, TypeAuth}
	ForbiddenHost              = Code{"forbidden_host", http.StatusForbidden, TypeAuth}
	ForbiddenOrigin            = Code{"forbidden_origin", http.StatusForbidden, TypeAuth}
	InvalidAPIKey              = Code{"invalid_api_key", http.StatusForbidden, TypeAuth}

	// Keys.
	APIKeyNotFound                    = invalid("api_key_not_found", http.StatusNotFound)
	APIKeyAlreadyExists               = invalid("api_key_already_exists", http.StatusConflict)
	MissingAPIKeyActions              = field("missing_api_key_actions")
	MissingAPIKeyIndexes              = field("missing_api_key_indexes")
	MissingAPIKeyExpiresAt            = field("missing_api_key_expires_at")
	InvalidAPIKeyActions              = field("invalid_api_key_actions")
	InvalidAPIKeyIndexes              = field("invalid_api_key_indexes")
	InvalidAPIKeyWorkspaces           = field("invalid_api_key_workspaces")
	InvalidAPIKeyLimits               = field("invalid_api_key_limits")
	InvalidAPIKeyExpiresAt            = field("invalid_api_key_expires_at")
	InvalidAPIKeyDescription          = field("invalid_api_key_description")
	InvalidAPIKeyName                 = field("invalid_api_key_name")
	InvalidAPIKeyUID                  = field("invalid_api_key_uid")
	InvalidAPIKeyLimit                = field("invalid_api_key_limit")
	InvalidAPIKeyOffset               = field("invalid_api_key_offset")
	IndexScopedAPIKeyWithGlobalAction = field("index_scoped_api_key_with_global_action")
	ImmutableAPIKeyActions            = field("immutable_api_key_actions")
	ImmutableAPIKeyCreatedAt          = field("immutable_api_key_created_at")
	ImmutableAPIKeyExpiresAt          = field("immutable_api_key_expires_at")
	ImmutableAPIKeyIndexes            = field("immutable_api_key_indexes")
	ImmutableAPIKeyWorkspaces         = field("immutable_api_key_workspaces")
	ImmutableAPIKeyKey                = field("immutable_api_key_key")
	ImmutableAPIKeyUID                = field("immutable_api_key_uid")
	ImmutableAPIKeyUpdatedAt          = field("immutable_api_key_updated_at")

	// Plugins.
	PluginsNotReloaded = Code{"plugins_not_reloaded", http.StatusInternalServerError, TypeSystem}
	PluginAPIDisabled  = invalid("plugin_api_disabled", http.StatusForbidden)
	PluginNotAccepted  = invalid("plugin_not_accepted", http.StatusConflict)
	PluginNotChanged   = invalid("plugin_not_changed", http.StatusUnprocessableEntity)

	// Workspaces.
	ChatNotFound                     = invalid("chat_not_found", http.StatusNotFound)
	InvalidChatWorkspaceUID          = field("invalid_chat_workspace_uid")
	InvalidChatOffset                = field("invalid_chat_offset")
	InvalidChatLimit                 = field("invalid_chat_limit")
	InvalidChatSource                = field("invalid_chat_completion_source")
	InvalidChatOrgID                 = field("invalid_chat_completion_org_id")
	InvalidChatProjectID             = field("invalid_chat_completion_project_id")
	InvalidChatAPIVersion            = field("invalid_chat_completion_api_version")
	InvalidChatDeploymentID          = field("invalid_chat_completion_deployment_id")
	InvalidChatBaseURL               = field("invalid_chat_completion_base_api")
	InvalidChatAPIKey                = field("invalid_chat_completion_api_key")
	InvalidChatPrompts               = field("invalid_chat_completion_prompts")
	InvalidChatSystemPrompt          = field("invalid_chat_completion_system_prompt")
	InvalidChatSearchDescription     = field("invalid_chat_completion_search_description_prompt")
	InvalidChatSearchQParam          = field("invalid_chat_completion_search_query_param_prompt")
	InvalidChatSearchFilterParam     = field("invalid_chat_completion_search_filter_param_prompt")
	InvalidChatSearchIndexUIDParam   = field("invalid_chat_completion_search_index_uid_param_prompt")
	InvalidChatIndexUIDs             = field("invalid_chat_completion_index_uids")
	InvalidChatParameters            = field("invalid_chat_completion_parameters")
	InvalidChatModel                 = field("invalid_chat_model")
	InvalidChatDefaultModel          = field("invalid_chat_default_model")
	InvalidChatModels                = field("invalid_chat_models")
	InvalidChatOptions               = field("invalid_chat_options")
	InvalidChatCitations             = field("invalid_chat_citations")
	InvalidChatEnforcedParameters    = field("invalid_chat_enforced_parameters")
	InvalidChatMaxCompletionTokens   = field("invalid_chat_max_completion_tokens")
	InvalidChatClientMessages        = field("invalid_chat_client_messages")
	InvalidChatClientTools           = field("invalid_chat_client_tools")
	InvalidChatMaxInputBytes         = field("invalid_chat_max_input_bytes")
	InvalidChatMaxMessages           = field("invalid_chat_max_messages")
	InvalidChatFirstByteSeconds      = field("invalid_chat_first_byte_seconds")
	InvalidChatLimits                = field("invalid_chat_limits")
	InvalidChatFallback              = field("invalid_chat_fallback")
	TooManyRequests                  = Code{"too_many_requests", http.StatusTooManyRequests, TypeSystem}
	TokenBudgetSpent                 = Code{"token_budget_spent", http.StatusTooManyRequests, TypeSystem}
	InvalidChatPlugin                = field("invalid_chat_completion_plugin")
	InvalidChatPluginVersion         = field("invalid_chat_completion_plugin_version")
	ModelNotFound                    = invalid("model_not_found", http.StatusNotFound)
	ModelRequired                    = field("model_required")
	MissingChatAPIKey                = field("missing_chat_completion_api_key")
	UnimplementedNonStreaming        = invalid("unimplemented_non_streaming_chat_completions", http.StatusNotImplemented)
	ChatModelsUnimplemented          = invalid("unimplemented_chat_models", http.StatusNotImplemented)
	UnimplementedMultiChoice         = invalid("unimplemented_multi_choice_chat_completions", http.StatusNotImplemented)
	ChatProviderUnavailable          = Code{"chat_provider_unavailable", http.StatusServiceUnavailable, TypeSystem}
	ChatTooManyRounds                = Code{"chat_too_many_rounds", http.StatusBadGateway, TypeSystem}
	LLMProviderRateLimited           = Code{"llm_provider_rate_limited", http.StatusTooManyRequests, TypeSystem}
	LLMProviderRejectedRequest       = field("llm_provider_rejected_request")
	LLMProviderUnauthorized          = Code{"llm_provider_unauthorized", http.StatusBadGateway, TypeSystem}
	LLMProviderError                 = Code{"llm_provider_error", http.StatusBadGateway, TypeSystem}
	LLMProviderTimeout               = Code{"llm_provider_timeout", http.StatusGatewayTimeout, TypeSystem}
	InvalidChatSettingDocTemplate    = field("invalid_chat_setting_document_template")
	InvalidSettingsIndexChat         = field("invalid_settings_index_chat")
	InvalidSettingsDisplayed         = field("invalid_settings_displayed_attributes")
	InvalidSettingsSearchable        = field("invalid_settings_searchable_attributes")
	InvalidSettingsFilterable        = field("invalid_settings_filterable_attributes")
	InvalidSettingsSortable          = field("invalid_settings_sortable_attributes")
	InvalidSettingsRankingRules      = field("invalid_settings_ranking_rules")
	InvalidSettingsStopWords         = field("invalid_settings_stop_words")
	InvalidSettingsSeparators        = field("invalid_settings_separator_tokens")
	InvalidSettingsNonSeparators     = field("invalid_settings_non_separator_tokens")
	InvalidSettingsDictionary        = field("invalid_settings_dictionary")
	InvalidSettingsSynonyms          = field("invalid_settings_synonyms")
	InvalidSettingsDistinct          = field("invalid_settings_distinct_attribute")
	InvalidSettingsProximity         = field("invalid_settings_proximity_precision")
	InvalidSettingsTypos             = field("invalid_settings_typo_tolerance")
	InvalidSettingsFaceting          = field("invalid_settings_faceting")
	InvalidSettingsPagination        = field("invalid_settings_pagination")
	InvalidSettingsCutoff            = field("invalid_settings_search_cutoff_ms")
	InvalidSettingsEmbedders         = field("invalid_settings_embedders")
	InvalidSettingsFacetSearch       = field("invalid_settings_facet_search")
	InvalidSettingsPrefixSearch      = field("invalid_settings_prefix_search")
	InvalidSettingsLocalized         = field("invalid_settings_localized_attributes")
	IndexNotFound                    = invalid("index_not_found", http.StatusNotFound)
	IndexNotReady                    = Code{"index_not_ready", http.StatusServiceUnavailable, TypeSystem}
	IndexAlreadyExists               = invalid("index_already_exists", http.StatusConflict)
	InvalidIndexUID                  = field("invalid_index_uid")
	MissingIndexUID                  = field("missing_index_uid")
	InvalidIndexPrimaryKey           = field("invalid_index_primary_key")
	InvalidIndexOffset               = field("invalid_index_offset")
	InvalidIndexLimit                = field("invalid_index_limit")
	IndexPrimaryKeyAlreadyExists     = field("index_primary_key_already_exists")
	IndexPrimaryKeyNoCandidate       = field("index_primary_key_no_candidate_found")
	IndexPrimaryKeyMultipleCandidate = field("index_primary_key_multiple_candidates_found")
	MissingSwapIndexes               = field("missing_swap_indexes")
	InvalidSwapIndexes               = field("invalid_swap_indexes")
	InvalidSwapDuplicateIndexFound   = field("invalid_swap_duplicate_index_found")
	InvalidSwapRename                = field("invalid_swap_rename")
	ImmutableIndexUID                = field("immutable_index_uid")
	ImmutableIndexCreatedAt          = field("immutable_index_created_at")
	ImmutableIndexUpdatedAt          = field("immutable_index_updated_at")
	DocumentNotFound                 = invalid("document_not_found", http.StatusNotFound)
	MissingDocumentID                = field("missing_document_id")
	InvalidDocumentID                = field("invalid_document_id")
	InvalidDocumentGeoField          = field("invalid_document_geo_field")
	InvalidDocumentFields            = field("invalid_document_fields")
	InvalidDocumentOffset            = field("invalid_document_offset")
	InvalidDocumentLimit             = field("invalid_document_limit")
	InvalidDocumentFilter            = field("invalid_document_filter")
	InvalidDocumentIDs               = field("invalid_document_ids")
	InvalidDocumentSort              = field("invalid_document_sort")
	InvalidDocumentCSVDelimiter      = field("invalid_document_csv_delimiter")
	MissingDocumentFilter            = field("missing_document_filter")
	MaxFieldsLimitExceeded           = field("max_fields_limit_exceeded")
	InvalidSearchQ                   = field("invalid_search_q")
	InvalidSearchFilter              = field("invalid_search_filter")
	InvalidSearchSort                = field("invalid_search_sort")
	InvalidSearchDistinct            = field("invalid_search_distinct")
	InvalidSearchFacets              = field("invalid_search_facets")
	InvalidSearchOffset              = field("invalid_search_offset")
	InvalidSearchLimit               = field("invalid_search_limit")
	InvalidSearchPage                = field("invalid_search_page")
	InvalidSearchHitsPerPage         = field("invalid_search_hits_per_page")
	InvalidSearchAttributesRetrieve  = field("invalid_search_attributes_to_retrieve")
	InvalidSearchAttributesHighlight = field("invalid_search_attributes_to_highlight")
	InvalidSearchAttributesCrop      = field("invalid_search_attributes_to_crop")
	InvalidSearchAttributesSearchOn  = field("invalid_search_attributes_to_search_on")
	InvalidSearchCropLength          = field("invalid_search_crop_length")
	InvalidSearchCropMarker          = field("invalid_search_crop_marker")
	InvalidSearchHighlightPreTag     = field("invalid_search_highlight_pre_tag")
	InvalidSearchHighlightPostTag    = field("invalid_search_highlight_post_tag")
	InvalidSearchShowMatchesPosition = field("invalid_search_show_matches_position")
	InvalidSearchShowRankingScore    = field("invalid_search_show_ranking_score")
	InvalidSearchShowScoreDetails    = field("invalid_search_show_ranking_score_details")
	InvalidSearchLocales             = field("invalid_search_locales")
	InvalidSearchMatchingStrategy    = field("invalid_search_matching_strategy")
	InvalidSearchRankingThreshold    = field("invalid_search_ranking_score_threshold")
	TooManySearchRequests            = Code{"too_many_search_requests", http.StatusServiceUnavailable, TypeSystem}
	MissingFacetName                 = field("missing_facet_search_facet_name")
	InvalidFacetName                 = field("invalid_facet_search_facet_name")
	InvalidFacetQuery                = field("invalid_facet_search_query")
	InvalidFacetExhaustive           = field("invalid_facet_search_exhaustive_facet_count")
	FacetSearchDisabled              = field("facet_search_disabled")
	InvalidMultiSearchFederated      = field("invalid_multi_search_federated")
	InvalidMultiSearchOptions        = field("invalid_multi_search_federation_options")
	InvalidMultiSearchDistinct       = field("invalid_multi_search_distinct")
	InvalidMultiSearchFacets         = field("invalid_multi_search_facets")
	InvalidMultiSearchFacetsByIndex  = field("invalid_multi_search_facets_by_index")
	InvalidMultiSearchFacetOrder     = field("invalid_multi_search_facet_order")
	InvalidMultiSearchMergeFacets    = field("invalid_multi_search_merge_facets")
	InvalidMultiSearchMaxValues      = field("invalid_multi_search_max_values_per_facet")
	InvalidMultiSearchQueryFacets    = field("invalid_multi_search_query_facets")
	InvalidMultiSearchRankingRules   = field("invalid_multi_search_query_ranking_rules")
	InvalidMultiSearchPagination     = field("invalid_multi_search_query_pagination")
	InvalidMultiSearchPosition       = field("invalid_multi_search_query_position")
	InvalidMultiSearchWeight         = field("invalid_multi_search_weight")
	InvalidMultiSearchRemote         = field("invalid_multi_search_remote")
	InvalidNetworkSelf               = field("invalid_network_self")
	InvalidNetworkRemotes            = field("invalid_network_remotes")
	InvalidNetworkURL                = field("invalid_network_url")
	InvalidNetworkSearchAPIKey       = field("invalid_network_search_api_key")
	MissingNetworkURL                = field("missing_network_url")

	WebhookNotFound             = invalid("webhook_not_found", http.StatusNotFound)
	InvalidWebhooks             = field("invalid_webhooks")
	InvalidWebhookUUID          = field("invalid_webhook_uuid")
	InvalidWebhookURL           = field("invalid_webhook_url")
	InvalidWebhookHeaders       = field("invalid_webhook_headers")
	ImmutableWebhook            = field("immutable_webhook")
	ImmutableWebhookUUID        = field("immutable_webhook_uuid")
	ImmutableWebhookIsEditable  = field("immutable_webhook_is_editable")
	TaskNotFound                = invalid("task_not_found", http.StatusNotFound)
	InvalidTaskUIDs             = field("invalid_task_uids")
	InvalidTaskStatuses         = field("invalid_task_statuses")
	InvalidTaskTypes            = field("invalid_task_types")
	InvalidTaskLimit            = field("invalid_task_limit")
	InvalidTaskFrom             = field("invalid_task_from")
	InvalidTaskReverse          = field("invalid_task_reverse")
	InvalidTaskCanceledBy       = field("invalid_task_canceled_by")
	InvalidTaskBeforeEnqueuedAt = field("invalid_task_before_enqueued_at")
	InvalidTaskAfterEnqueuedAt  = field("invalid_task_after_enqueued_at")
	InvalidTaskBeforeStartedAt  = field("invalid_task_before_started_at")
	InvalidTaskAfterStartedAt   = field("invalid_task_after_started_at")
	InvalidTaskBeforeFinishedAt = field("invalid_task_before_finished_at")
	InvalidTaskAfterFinishedAt  = field("invalid_task_after_finished_at")
	MissingTaskFilters          = field("missing_task_filters")
	BatchNotFound               = invalid("batch_not_found", http.StatusNotFound)
	InvalidBatchUIDs            = field("invalid_batch_uids")
	DumpProcessFailed           = Code{"dump_process_failed", http.StatusInternalServerError, TypeInternal}
	TaskEndedHost               = Code{"task_ended_host", http.StatusInternalServerError, TypeInternal}
	NoSpaceLeft                 = Code{"no_space_left_on_device", http.StatusUnprocessableEntity, TypeSystem}

	// Vectors, of documents and of queries.
	InvalidVectorsType             = field("invalid_vectors_type")
	InvalidVectorDimensions        = field("invalid_vector_dimensions")
	TooManyVectors                 = field("too_many_vectors")
	InvalidDocumentRetrieveVectors = field("invalid_document_retrieve_vectors")
	VectorEmbeddingError           = field("vector_embedding_error")
	InvalidSearchVector            = field("invalid_search_vector")
	InvalidSearchMedia             = field("invalid_search_media")
	InvalidSearchMediaAndVector    = field("invalid_search_media_and_vector")
	InvalidSearchPassages          = field("invalid_search_passages")
	InvalidSearchHybrid            = field("invalid_search_hybrid_query")
	InvalidSearchEmbedder          = field("invalid_search_embedder")
	InvalidSearchSemanticRatio     = field("invalid_search_semantic_ratio")
	InvalidSearchRetrieveVector    = field("invalid_search_retrieve_vectors")
	MissingSearchHybrid            = field("missing_search_hybrid")

	// Templates that are rendered for their authors.
	InvalidRenderTemplate  = field("invalid_render_template")
	InvalidRenderInput     = field("invalid_render_input")
	RenderDocumentNotFound = invalid("render_document_not_found", http.StatusNotFound)
	TemplateParsingError   = field("template_parsing_error")
	TemplateRenderingError = field("template_rendering_error")

	// Similar documents.
	InvalidSimilarID               = field("invalid_similar_id")
	NotFoundSimilarID              = field("not_found_similar_id")
	InvalidSimilarEmbedder         = field("invalid_similar_embedder")
	InvalidSimilarFilter           = field("invalid_similar_filter")
	InvalidSimilarOffset           = field("invalid_similar_offset")
	InvalidSimilarLimit            = field("invalid_similar_limit")
	InvalidSimilarAttributes       = field("invalid_similar_attributes_to_retrieve")
	InvalidSimilarRetrieveVectors  = field("invalid_similar_retrieve_vectors")
	InvalidSimilarShowScore        = field("invalid_similar_show_ranking_score")
	InvalidSimilarShowScoreDetails = field("invalid_similar_show_ranking_score_details")
	InvalidSimilarThreshold        = field("invalid_similar_ranking_score_threshold")

	// Remotes of a federated search.
	RemoteTimeout     = Code{"remote_timeout", http.StatusBadGateway, TypeSystem}
	RemoteNotSent     = Code{"remote_could_not_send_request", http.StatusBadGateway, TypeSystem}
	RemoteBadResponse = Code{"remote_bad_response", http.StatusBadGateway, TypeSystem}
	RemoteFailed      = Code{"remote_remote_error", http.StatusBadGateway, TypeSystem}
	RemoteInvalidKey  = Code{"remote_invalid_api_key", http.StatusForbidden, TypeAuth}
	RemoteBadRequest  = field("remote_bad_request")

	// An export.
	InvalidExportURL              = field("invalid_export_url")
	InvalidExportAPIKey           = field("invalid_export_api_key")
	InvalidExportPayloadSize      = field("invalid_export_payload_size")
	InvalidExportIndexesPatterns  = field("invalid_export_indexes_patterns")
	InvalidExportIndexFilter      = field("invalid_export_index_filter")
	InvalidExportOverrideSettings = field("invalid_export_index_override_settings")
)
