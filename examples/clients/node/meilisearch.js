// The official meilisearch package against a running Parley: each of its
// public methods once. What it prints is held to host/docs/reference/meilisearch.md by
// `go test ./host/cli -run TestMeilisearchJS`.
import { Meilisearch } from 'meilisearch'
import { generateTenantToken } from 'meilisearch/token'
import assert from 'node:assert/strict'

const host = process.env.CLIENT_HOST ?? 'http://127.0.0.1:7700'
const client = new Meilisearch({ host, apiKey: process.env.CLIENT_MASTER_KEY, defaultWaitOptions: { timeout: 120_000, interval: 20 } })
const movies = client.index('movies-js')
const done = async (promise) => {
  const task = await promise.waitTask()
  assert.equal(task.status, 'succeeded', JSON.stringify(task.error))
  return task
}
const films = [
  { id: 1, title: 'Alien', genre: 'horror', year: 1979, _vectors: { plots: [1, 0] } },
  { id: 2, title: 'Arrival', genre: 'drama', year: 2016, _vectors: { plots: [0, 1] } },
  { id: 3, title: 'Heat', genre: 'crime', year: 1995, _vectors: { plots: [0.6, 0.8] } },
]
const ids = (found) => found.hits.map((h) => h.id)

// What each method must do here. They run in this order, each on what those
// before it left.
const checks = {
  'Meilisearch.health': async () => assert.deepEqual(await client.health(), { status: 'available' }),
  'Meilisearch.isHealthy': async () => assert.equal(await client.isHealthy(), true),
  'Meilisearch.getVersion': async () => assert.equal(typeof (await client.getVersion()).pkgVersion, 'string'),
  'Meilisearch.createIndex': async () => done(client.createIndex('movies-js', { primaryKey: 'id' })),
  'Meilisearch.index': async () => assert.equal(client.index('movies-js').uid, 'movies-js'),
  'Meilisearch.getIndex': async () => assert.equal((await client.getIndex('movies-js')).primaryKey, 'id'),
  'Meilisearch.getRawIndex': async () => assert.equal((await client.getRawIndex('movies-js')).uid, 'movies-js'),
  'Meilisearch.getIndexes': async () => assert.ok((await client.getIndexes({ limit: 100 })).results.some((i) => i.uid === 'movies-js')),
  'Meilisearch.getRawIndexes': async () => assert.ok((await client.getRawIndexes()).total >= 1),
  'Meilisearch.updateIndex': async () => done(client.updateIndex('movies-js', { primaryKey: 'id' })),
  'Index.create': async () => done(movies.constructor.create('other-js', { primaryKey: 'id' }, client.config)),
  'Index.update': async () => done(client.index('other-js').update({ primaryKey: 'key' })),
  'Index.getRawInfo': async () => assert.equal((await client.index('other-js').getRawInfo()).primaryKey, 'key'),
  'Index.fetchInfo': async () => assert.ok((await movies.fetchInfo()).createdAt instanceof Date),
  'Index.fetchPrimaryKey': async () => assert.equal(await movies.fetchPrimaryKey(), 'id'),

  'Index.getSettings': async () => assert.deepEqual((await movies.getSettings()).searchableAttributes, ['*']),
  'Index.updateSettings': async () => done(movies.updateSettings({ filterableAttributes: ['genre', 'year'], sortableAttributes: ['year'] })),
  ...setting('Pagination', { maxTotalHits: 50 }, { maxTotalHits: 1000 }),
  ...setting('Synonyms', { film: ['movie'] }, {}),
  ...setting('StopWords', ['the'], []),
  ...setting('RankingRules', ['words', 'year:desc'], ['words', 'typo', 'proximity', 'attribute', 'sort', 'exactness']),
  ...setting('DistinctAttribute', 'genre', null),
  ...setting('FilterableAttributes', ['genre'], []),
  ...setting('SortableAttributes', ['year'], []),
  ...setting('SearchableAttributes', ['title'], ['*']),
  ...setting('DisplayedAttributes', ['title'], ['*']),
  ...setting('TypoTolerance', { enabled: false }, { enabled: true }),
  ...setting('Faceting', { maxValuesPerFacet: 7 }, { maxValuesPerFacet: 100 }),
  ...setting('SeparatorTokens', ['|'], []),
  ...setting('NonSeparatorTokens', ['#'], []),
  ...setting('Dictionary', ['J. K.'], []),
  ...setting('ProximityPrecision', 'byAttribute', 'byWord'),
  ...setting('Embedders', { plots: { source: 'userProvided', dimensions: 2 } }, {}),
  ...setting('SearchCutoffMs', 500, null),
  ...setting('LocalizedAttributes', [{ attributePatterns: ['title'], locales: ['jpn'] }], null),
  ...setting('ForeignKeys', [{ foreignIndexUid: 'other-js', fieldName: 'id' }], []),
  ...setting('FacetSearch', false, true),
  ...setting('PrefixSearch', 'disabled', 'indexingTime'),
  'Index.getChat': async () => assert.equal(typeof (await movies.getChat()).documentTemplate, 'string'),
  'Index.updateChat': async () => {
    await done(movies.updateChat({ description: 'films', searchParameters: { limit: 3 } }))
    assert.equal((await movies.getChat()).searchParameters.limit, 3)
  },
  'Index.resetSettings': async () => {
    await done(movies.resetSettings())
    assert.equal((await movies.getSettings()).pagination.maxTotalHits, 1000)
  },

  'Index.addDocuments': async () => {
    await done(movies.updateSettings({ filterableAttributes: ['genre', 'year'], sortableAttributes: ['year'], embedders: { plots: { source: 'userProvided', dimensions: 2 } } }))
    await done(movies.addDocuments(films))
  },
  'Index.addDocumentsInBatches': async () => { for (const p of movies.addDocumentsInBatches([{ id: 4, title: 'Fargo' }, { id: 5, title: 'Gilda' }], 1)) await done(p) },
  'Index.addDocumentsFromString': async () => done(movies.addDocumentsFromString('id;title\n6;Laura', 'text/csv', { csvDelimiter: ';' })),
  'Index.updateDocuments': async () => done(movies.updateDocuments([{ id: 4, genre: 'crime' }])),
  'Index.updateDocumentsInBatches': async () => { for (const p of movies.updateDocumentsInBatches([{ id: 5, genre: 'drama' }, { id: 6, genre: 'drama' }], 1)) await done(p) },
  'Index.updateDocumentsFromString': async () => done(movies.updateDocumentsFromString('{"id":6,"year":1944}\n{"id":5,"year":1946}', 'application/x-ndjson')),
  'Index.getDocument': async () => assert.deepEqual(await movies.getDocument(4, { fields: ['title', 'genre'] }), { title: 'Fargo', genre: 'crime' }),
  'Index.getDocuments': async () => {
    const page = await movies.getDocuments({ filter: 'year < 1980', fields: ['id'], limit: 2 })
    assert.deepEqual([page.total, page.results.length], [3, 2])
    assert.deepEqual((await movies.getDocuments({ ids: [1], retrieveVectors: true })).results[0]._vectors.plots, { embeddings: [[1, 0]], regenerate: false })
  },
  'Index.getStats': async () => assert.equal((await movies.getStats()).numberOfDocuments, 6),
  'Meilisearch.getStats': async () => assert.equal((await client.getStats()).indexes['movies-js'].numberOfDocuments, 6),
  'Index.getFields': async () => assert.ok((await movies.getFields()).results.some((f) => f.name === 'title')),

  'Index.search': async () => {
    assert.deepEqual(ids(await movies.search('arival')), [2])
    const found = await movies.search('heat', {
      filter: [['genre = crime', 'genre = drama'], 'year > 1990'], facets: ['genre'], sort: ['year:desc'], attributesToHighlight: ['title'], showRankingScore: true,
      attributesToRetrieve: ['title'], showMatchesPosition: true, matchingStrategy: 'all', hitsPerPage: 1, page: 1,
    })
    assert.deepEqual([found.totalHits, found.totalPages, found.facetDistribution.genre], [1, 1, { crime: 1 }])
    const [hit] = found.hits
    assert.deepEqual([hit.title, hit._formatted.title, hit._matchesPosition.title[0].length], ['Heat', '<em>Heat</em>', 4])
    assert.ok(hit._rankingScore > 0.5 && hit._rankingScore <= 1)
    assert.deepEqual(ids(await movies.search('which arrival', { matchingStrategy: 'any' })), [2]) // beyond Meilisearch
    const near = await movies.search('', { vector: [0, 1], hybrid: { embedder: 'plots', semanticRatio: 1 }, retrieveVectors: true, limit: 2 })
    assert.deepEqual([ids(near), near.semanticHitCount, near.hits[0]._vectors.plots.embeddings], [[2, 3], 2, [[0, 1]]])
  },
  'Index.searchGet': async () => assert.deepEqual(ids(await movies.searchGet('heat', { filter: 'year > 1990', limit: 1, attributesToRetrieve: ['id'] })), [3]),
  'Index.searchForFacetValues': async () => assert.deepEqual((await movies.searchForFacetValues({ facetName: 'genre', facetQuery: 'cri' })).facetHits, [{ value: 'crime', count: 2 }]),
  'Index.searchSimilarDocuments': async () => assert.deepEqual(ids(await movies.searchSimilarDocuments({ id: 2, embedder: 'plots' })), [3, 1]),
  'Meilisearch.multiSearch': async () => {
    const { results } = await client.multiSearch({ queries: [{ indexUid: 'movies-js', q: 'alien' }, { indexUid: 'movies-js', q: 'heat' }] })
    assert.deepEqual(results.map(ids), [[1], [3]])
    const one = await client.multiSearch({
      federation: { limit: 2, facetsByIndex: { 'movies-js': ['genre'] }, mergeFacets: {} },
      queries: [{ indexUid: 'movies-js', q: 'alien', federationOptions: { weight: 0.1 } }, { indexUid: 'movies-js', q: 'heat' }],
    })
    assert.deepEqual([ids(one), one.hits[1]._federation.queriesPosition, one.facetDistribution.genre], [[3, 1], 0, { crime: 1, horror: 1 }])
  },

  'TaskClient.getTasks': async () => assert.ok((await client.tasks.getTasks({ indexUids: ['movies-js'], types: ['documentAdditionOrUpdate'], statuses: ['succeeded'] })).total >= 4),
  'TaskClient.getTask': async () => assert.equal((await client.tasks.getTask(0)).uid, 0),
  'TaskClient.waitForTask': async () => assert.equal((await client.tasks.waitForTask(await movies.updateDocuments([]))).status, 'succeeded'),
  'TaskClient.waitForTasks': async () => assert.equal((await client.tasks.waitForTasks([0, 1])).length, 2),
  'TaskClient.waitForTasksIter': async () => { for await (const t of client.tasks.waitForTasksIter([0])) assert.equal(t.uid, 0) },
  'TaskClient.cancelTasks': async () => assert.equal((await client.tasks.cancelTasks({ statuses: ['enqueued'] }).waitTask()).type, 'taskCancelation'),
  'TaskClient.deleteTasks': async () => assert.equal((await client.tasks.deleteTasks({ uids: [0] }).waitTask()).details.deletedTasks, 1),
  'TaskClient.getTaskDocuments': async () => { // they are kept until the task is finished
    await client.updateExperimentalFeatures({ getTaskDocumentsRoute: true })
    await assert.rejects(client.tasks.getTaskDocuments(1), (e) => e.cause.code === 'task_file_not_found')
  },
  'BatchClient.getBatches': async () => assert.ok((await client.batches.getBatches({ indexUids: ['movies-js'] })).results.length > 0),
  'BatchClient.getBatch': async () => {
    const [last] = (await client.batches.getBatches({ limit: 1 })).results
    assert.deepEqual((await client.batches.getBatch(last.uid)).uid, last.uid)
  },

  'Meilisearch.createKey': async () => { key = await client.createKey({ name: 'shop', description: 'of a shop', actions: ['search'], indexes: ['movies-*'], expiresAt: null }) },
  'Meilisearch.getKey': async () => assert.equal((await client.getKey(key.uid)).key, key.key),
  'Meilisearch.getKeys': async () => assert.ok((await client.getKeys()).results.some((k) => k.uid === key.uid)),
  'Meilisearch.updateKey': async () => assert.equal((await client.updateKey(key.uid, { name: 'store' })).name, 'store'),
  'token.generateTenantToken': async () => {
    const apiKey = await generateTenantToken({ apiKey: key.key, apiKeyUid: key.uid, searchRules: { 'movies-js': { filter: 'genre = crime' } } })
    const tenant = new Meilisearch({ host, apiKey })
    assert.deepEqual(ids(await tenant.index('movies-js').search('', { sort: ['year:asc'] })).sort(), [3, 4])
    await assert.rejects(tenant.index('other-js').search(''), (e) => e.cause.code === 'index_not_found')
    await assert.rejects(tenant.getKeys(), (e) => e.cause.code === 'invalid_api_key')
  },
  'Meilisearch.deleteKey': async () => {
    await client.deleteKey(key.uid)
    await assert.rejects(client.getKey(key.uid), (e) => e.cause.code === 'api_key_not_found')
  },

  'Meilisearch.getExperimentalFeatures': async () => assert.equal(typeof (await client.getExperimentalFeatures()).containsFilter, 'boolean'),
  'Meilisearch.updateExperimentalFeatures': async () => assert.equal((await client.updateExperimentalFeatures({ network: true })).network, true),
  'Meilisearch.getNetwork': async () => assert.ok('remotes' in (await client.getNetwork())),
  'Meilisearch.updateNetwork': async () => {
    const network = await client.updateNetwork({ self: 'here', remotes: { there: { url: host, searchApiKey: process.env.CLIENT_MASTER_KEY } } })
    assert.equal(network.self, 'here')
  },
  'Meilisearch.initializeNetwork': async () => done(client.initializeNetwork({ self: 'here', remotes: { here: { url: host } }, shards: { a: { remotes: ['here'] } } })),
  'Meilisearch.addRemote': async () => done(client.addRemote({ name: 'there', remote: { url: host } })),
  'Meilisearch.removeRemote': async () => done(client.removeRemote({ name: 'there' })),
  'Meilisearch.addRemotesToShard': async () => done(client.addRemotesToShard('a', ['there'])),
  'Meilisearch.removeRemotesFromShard': async () => done(client.removeRemotesFromShard('a', ['there'])),

  'Meilisearch.chat': async () => assert.equal(typeof client.chat('demo').get, 'function'),
  'Meilisearch.getChatWorkspaces': async () => assert.ok((await client.getChatWorkspaces()).results.some((w) => w.uid === 'demo')),
  'Meilisearch.getChatWorkspace': async () => assert.equal((await client.getChatWorkspace('demo')).uid, 'demo'),
  'ChatWorkspace.get': async () => assert.equal((await client.chat('demo').get()).source, 'vLlm'),
  'ChatWorkspace.update': async () => assert.equal((await client.chat('demo').update({ prompts: { system: 'Be brief.' } })).prompts.system, 'Be brief.'),
  'ChatWorkspace.streamCompletion': async () => {
    const stream = await client.chat('demo').streamCompletion({ model: 'text', messages: [{ role: 'user', content: 'Which films did Christopher Nolan direct?' }], stream: true })
    let text = ''
    for await (const part of stream) text += Buffer.from(part).toString()
    assert.match(text, /data: \[DONE\]/)
  },
  'ChatWorkspace.reset': async () => client.chat('demo').reset(),
  'Meilisearch.deleteChatWorkspace': async () => client.deleteChatWorkspace('demo'),

  'Meilisearch.createDump': async () => done(client.createDump()),
  'Meilisearch.createSnapshot': async () => done(client.createSnapshot()),
  'Meilisearch.getDynamicSearchRules': async () => client.getDynamicSearchRules(),
  'Meilisearch.getDynamicSearchRule': async () => client.getDynamicSearchRule('a'),
  'Meilisearch.updateDynamicSearchRule': async () => done(client.updateDynamicSearchRule('a', {})),
  'Meilisearch.deleteDynamicSearchRule': async () => done(client.deleteDynamicSearchRule('a')),
  'Meilisearch.deleteAllDynamicSearchRules': async () => done(client.deleteAllDynamicSearchRules()),
  'Meilisearch.createWebhook': async () => { hook = await client.createWebhook({ url: 'https://example.com/hook' }) },
  'Meilisearch.getWebhooks': async () => assert.ok((await client.getWebhooks()).results.length > 0),
  'Meilisearch.getWebhook': async () => assert.equal((await client.getWebhook(hook?.uuid ?? 'none')).uuid, hook.uuid),
  'Meilisearch.updateWebhook': async () => client.updateWebhook(hook?.uuid ?? 'none', { url: 'https://example.com/other' }),
  'Meilisearch.deleteWebhook': async () => client.deleteWebhook(hook?.uuid ?? 'none'),
  'Meilisearch.renderTemplate': async () => client.renderTemplate({ template: { kind: 'inlineDocumentTemplate', inline: '{{ doc.title }}' }, input: null }),
  'Index.compact': async () => done(movies.compact()),
  'Index.updateDocumentsByFunction': async () => done(movies.updateDocumentsByFunction({ function: 'doc.title = doc.title.to_upper()' })),

  'Index.deleteDocument': async () => done(movies.deleteDocument(6)),
  'Index.deleteDocuments': async () => {
    await done(movies.deleteDocuments([5]))
    await done(movies.deleteDocuments({ filter: 'year < 1980' }))
    assert.equal((await movies.getStats()).numberOfDocuments, 3)
  },
  'Meilisearch.swapIndexes': async () => done(client.swapIndexes([{ indexes: ['movies-js', 'other-js'] }])),
  'Index.deleteAllDocuments': async () => {
    await done(movies.deleteAllDocuments())
    assert.equal((await movies.getStats()).numberOfDocuments, 0)
  },
  'Index.delete': async () => done(movies.delete()),
  'Meilisearch.deleteIndex': async () => done(client.deleteIndex('other-js')),
  'Meilisearch.deleteIndexIfExists': async () => assert.equal(await client.deleteIndexIfExists('other-js'), true),
}
let key, hook

/** The three methods of a setting: what was set is read again, and reset is the default. */
function setting(name, value, fallback) {
  const read = () => movies[`get${name}`]()
  const holds = async (want) => {
    const got = await read()
    if (want !== null && typeof want === 'object' && !Array.isArray(want)) assert.ok(holdsPart(got, want), JSON.stringify(got))
    else assert.deepEqual(got, want)
  }
  return {
    [`Index.get${name}`]: async () => { await read() },
    [`Index.update${name}`]: async () => { await done(movies[`update${name}`](value)); await holds(value) },
    [`Index.reset${name}`]: async () => { await done(movies[`reset${name}`]()); await holds(fallback) },
  }
}

/** Whether got has all that want has; what it has beside it does not matter. */
function holdsPart(got, want) {
  if (want === null || typeof want !== 'object') return got === want
  return got !== null && typeof got === 'object' && Object.entries(want).every(([k, v]) => holdsPart(got[k], v))
}

/** All that the package offers, so that the page can leave nothing out. */
function methods() {
  const names = ['token.generateTenantToken', 'Index.create']
  const types = { Meilisearch: client, Index: movies, TaskClient: client.tasks, BatchClient: client.batches, ChatWorkspace: client.chat('demo') }
  for (const [type, value] of Object.entries(types)) {
    const members = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(value))
    for (const name in members) if (name !== 'constructor' && typeof members[name].value === 'function') names.push(`${type}.${name}`)
  }
  return names
}

for (const name of methods()) if (!checks[name]) console.log(`FAIL ${name} is not checked`)
for (const [name, run] of Object.entries(checks)) {
  try {
    await run()
    console.log(`ok   ${name}`)
  } catch (e) {
    console.log(`no   ${name}: ${e.cause?.code ?? e.code ?? ''} ${String(e.message).replaceAll('\n', ' ').slice(0, 300)}`)
  }
}
process.exit(0) // the timers that the package waits by would keep the process for two minutes
