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
	NotFound           = invalid("not_found", http.StatusNotFound)
	RequestTimeout     = invalid("request_timeout", http.StatusRequestTimeout)
	ShuttingDown       = Code{"shutting_down", http.StatusServiceUnavailable, TypeSystem}
	MethodNotAllowed   = invalid("method_not_allowed", http.StatusMethodNotAllowed)

	// Authorization.
	MissingAuthorizationHeader = Code{"missing_authorization_header", http.StatusUnauthorized, TypeAuth}
	MissingMasterKey           = Code{"missing_master_key", http.StatusUnauthorized, TypeAuth}
	InvalidAPIKey              = Code{"invalid_api_key", http.StatusForbidden, TypeAuth}

	// Keys.
	APIKeyNotFound                    = invalid("api_key_not_found", http.StatusNotFound)
	APIKeyAlreadyExists               = invalid("api_key_already_exists", http.StatusConflict)
	MissingAPIKeyActions              = field("missing_api_key_actions")
	MissingAPIKeyIndexes              = field("missing_api_key_indexes")
	MissingAPIKeyExpiresAt            = field("missing_api_key_expires_at")
	InvalidAPIKeyActions              = field("invalid_api_key_actions")
	InvalidAPIKeyIndexes              = field("invalid_api_key_indexes")
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
	ImmutableAPIKeyKey                = field("immutable_api_key_key")
	ImmutableAPIKeyUID                = field("immutable_api_key_uid")
	ImmutableAPIKeyUpdatedAt          = field("immutable_api_key_updated_at")

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
	InvalidChatPluginVersion         = field("invalid_chat_completion_plugin_version")
	MissingChatAPIKey                = field("missing_chat_completion_api_key")
	UnimplementedNonStreaming        = invalid("unimplemented_non_streaming_chat_completions", http.StatusNotImplemented)
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
	DocumentNotFound                 = invalid("document_not_found", http.StatusNotFound)
	MissingDocumentID                = field("missing_document_id")
	InvalidDocumentID                = field("invalid_document_id")
	InvalidDocumentFields            = field("invalid_document_fields")
	InvalidDocumentOffset            = field("invalid_document_offset")
	InvalidDocumentLimit             = field("invalid_document_limit")
	InvalidDocumentFilter            = field("invalid_document_filter")
	MaxFieldsLimitExceeded           = field("max_fields_limit_exceeded")
	InvalidSearchQ                   = field("invalid_search_q")
	InvalidSearchFilter              = field("invalid_search_filter")
	InvalidSearchOffset              = field("invalid_search_offset")
	InvalidSearchLimit               = field("invalid_search_limit")
	InvalidSearchAttributesRetrieve  = field("invalid_search_attributes_to_retrieve")
	InvalidSearchShowRankingScore    = field("invalid_search_show_ranking_score")
	InvalidSearchMatchingStrategy    = field("invalid_search_matching_strategy")
	InvalidSearchRankingThreshold    = field("invalid_search_ranking_score_threshold")
	InvalidMultiSearchFederated      = field("invalid_multi_search_federated")
	InvalidMultiSearchOptions        = field("invalid_multi_search_federation_options")
	InvalidMultiSearchPagination     = field("invalid_multi_search_query_pagination")
	InvalidMultiSearchPosition       = field("invalid_multi_search_query_position")
	InvalidMultiSearchWeight         = field("invalid_multi_search_weight")
	TaskNotFound                     = invalid("task_not_found", http.StatusNotFound)
	InvalidTaskUID                   = field("invalid_task_uid")
	InvalidTaskUIDs                  = field("invalid_task_uids")
	InvalidTaskIndexUIDs             = field("invalid_index_uids")
	InvalidTaskStatuses              = field("invalid_task_statuses")
	InvalidTaskTypes                 = field("invalid_task_types")
	InvalidTaskLimit                 = field("invalid_task_limit")
	InvalidTaskFrom                  = field("invalid_task_from")
	NoSpaceLeft                      = Code{"no_space_left_on_device", http.StatusUnprocessableEntity, TypeSystem}
)
