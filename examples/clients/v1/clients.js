// Node clients of OpenAI's API against /v1, unmodified and at their defaults.
// Each check prints a line; the process ends with 1 where one failed.
import OpenAI, { AuthenticationError, NotFoundError, RateLimitError } from 'openai'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, streamText, generateObject, tool, jsonSchema, APICallError } from 'ai'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool as agentTool } from '@openai/agents'

const baseURL = process.env.CLIENT_BASE_URL ?? 'http://127.0.0.1:7700/v1'
const apiKey = process.env.CLIENT_KEY ?? 'unused'
const prompt = 'Which films did Christopher Nolan direct?'
const messages = [{ role: 'user', content: prompt }]
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
const weather = { type: 'function', function: { name: 'weather', description: 'The weather in a city', parameters } }

let failed = false
async function check(name, f) {
  let ok = false
  let got
  try {
    [ok, got] = await f()
  } catch (e) {
    got = e
  }
  failed ||= !ok
  console.log(ok ? 'ok  ' : 'FAIL', name, ok ? '' : got)
}
async function raises(kind, f, status) {
  try {
    return [false, await f()]
  } catch (e) {
    return [kind.isInstance ? kind.isInstance(e) && e.statusCode === status : e instanceof kind || e.status === status || e.cause?.status === status, e]
  }
}

const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
await check('openai models', async () => {
  const ids = []
  for await (const m of client.models.list()) ids.push(m.id)
  return [ids.includes('demo/text') && (await client.models.retrieve('demo/text')).id === 'demo/text', ids]
})
await check('openai whole, usage', async () => {
  const r = await client.chat.completions.create({ model: 'demo/text', messages })
  return [/Inception/.test(r.choices[0].message.content) && r.usage.total_tokens > 0, r]
})
await check('openai streamed, usage', async () => {
  let text = '', usage
  for await (const c of await client.chat.completions.create({ model: 'demo/text', messages, stream: true, stream_options: { include_usage: true } })) {
    text += c.choices[0]?.delta?.content ?? ''
    usage = c.usage
  }
  return [/Inception/.test(text) && usage.total_tokens > 0, text]
})
await check('openai tools', async () => {
  const r = await client.chat.completions.create({ model: 'demo/tool', messages, tools: [weather] })
  return [r.choices[0].finish_reason === 'tool_calls' && JSON.parse(r.choices[0].message.tool_calls[0].function.arguments).city === 'Paris', r]
})
await check('openai structured output', async () => {
  const r = await client.chat.completions.parse({ model: 'demo/json', messages, response_format: { type: 'json_schema', json_schema: { name: 'city', schema: parameters, strict: true } } })
  return [JSON.parse(r.choices[0].message.content).city === 'Paris', r]
})
await check('openai wrong key', () => raises(AuthenticationError, () => new OpenAI({ baseURL, apiKey: 'nope' }).chat.completions.create({ model: 'demo/text', messages })))
await check('openai unknown model', () => raises(NotFoundError, () => client.chat.completions.create({ model: 'nope', messages })))
await check('openai 429', () => raises(RateLimitError, () => client.chat.completions.create({ model: 'demo/error', messages })))
await check('openai cancel whole', async () => {
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 300)
  return raises(Error, () => client.chat.completions.create({ model: 'demo/c1000-d50', messages }, { signal: abort.signal }))
})
await check('openai responses whole, goes on', async () => {
  const r = await client.responses.create({ model: 'demo/text', input: prompt })
  const more = await client.responses.create({ model: 'demo/text', input: 'And then?', previous_response_id: r.id })
  return [/Inception/.test(r.output_text) && more.status === 'completed', r]
})
await check('openai responses streamed', async () => {
  const r = await client.responses.stream({ model: 'demo/text', input: prompt }).finalResponse()
  return [/Inception/.test(r.output_text), r]
})

const chain = (model, more) => new ChatOpenAI({ model, apiKey, maxRetries: 0, ...more, configuration: { baseURL } })
await check('langchain whole, usage', async () => {
  const r = await chain('demo/text').invoke(prompt)
  return [/Inception/.test(r.content) && r.usage_metadata.total_tokens > 0, r]
})
await check('langchain streamed', async () => {
  let text = ''
  for await (const c of await chain('demo/text').stream(prompt)) text += c.content
  return [/Inception/.test(text), text]
})
await check('langchain responses', async () => {
  const r = await chain('demo/text', { useResponsesApi: true }).invoke(prompt)
  return [/Inception/.test(r.text), r]
})
await check('langchain tools', async () => {
  const r = await chain('demo/tool').bindTools([weather]).invoke(prompt)
  return [r.tool_calls[0].args.city === 'Paris', r]
})
await check('langchain structured output', async () => {
  const r = await chain('demo/json').withStructuredOutput({ title: 'city', ...parameters }, { method: 'jsonSchema' }).invoke(prompt)
  return [r.city === 'Paris', r]
})
await check('langchain wrong key', () => raises(AuthenticationError, () => chain('demo/text', { apiKey: 'nope' }).invoke(prompt), 401))
await check('langchain unknown model', () => raises(NotFoundError, () => chain('nope').invoke(prompt), 404))

const openai = createOpenAI({ baseURL, apiKey })
const compatible = createOpenAICompatible({ name: 'parley', baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true })
for (const [name, model] of [['openai()', openai], ['openai.chat()', openai.chat], ['openai-compatible', compatible]]) {
  const once = { maxRetries: 0 }
  await check(`ai ${name} whole, usage`, async () => {
    const r = await generateText({ ...once, model: model('demo/text'), prompt })
    return [/Inception/.test(r.text) && r.usage.totalTokens > 0, r]
  })
  await check(`ai ${name} streamed, usage`, async () => {
    const errors = []
    const r = streamText({ ...once, model: model('demo/text'), prompt, onError: (e) => errors.push(e) })
    return [/Inception/.test(await r.text) && (await r.usage).totalTokens > 0 && errors.length === 0, errors]
  })
  await check(`ai ${name} second turn`, async () => {
    const first = await generateText({ ...once, model: model('demo/text'), prompt })
    const r = await generateText({ ...once, model: model('demo/text'), messages: [...messages, ...first.response.messages, { role: 'user', content: 'And then?' }] })
    return [/Inception/.test(r.text), r]
  })
  await check(`ai ${name} tools`, async () => {
    const r = await generateText({ ...once, model: model('demo/tool'), prompt, tools: { weather: tool({ description: 'The weather in a city', inputSchema: jsonSchema(parameters) }) } })
    return [r.toolCalls[0].input.city === 'Paris', r]
  })
  await check(`ai ${name} structured output`, async () => {
    const r = await generateObject({ ...once, model: model('demo/json'), prompt, schema: jsonSchema(parameters) })
    return [r.object.city === 'Paris', r]
  })
  await check(`ai ${name} unknown model`, () => raises(APICallError, () => generateText({ ...once, model: model('nope'), prompt }), 404))
  await check(`ai ${name} 429`, () => raises(APICallError, () => generateText({ ...once, model: model('demo/error'), prompt }), 429))
}
await check('ai wrong key', () => raises(APICallError, () => generateText({ maxRetries: 0, model: createOpenAI({ baseURL, apiKey: 'nope' })('demo/text'), prompt }), 401))

setDefaultOpenAIClient(client)
setTracingDisabled(true)
await check('agents whole', async () => {
  const r = await run(new Agent({ name: 'a', instructions: 'Be brief.', model: 'demo' }), prompt)
  return [/Inception/.test(r.finalOutput), r]
})
await check('agents streamed', async () => {
  const r = await run(new Agent({ name: 'a', model: 'demo' }), prompt, { stream: true })
  for await (const _ of r) { /* to the end */ }
  return [/Inception/.test(r.finalOutput), r]
})
await check('agents tools', async () => {
  const seen = []
  const t = agentTool({ name: 'weather', description: 'The weather in a city', parameters, strict: true, execute: ({ city }) => { seen.push(city); return 'Sun.' } })
  const r = await run(new Agent({ name: 'a', model: 'tool', tools: [t], toolUseBehavior: 'stop_on_first_tool' }), prompt)
  return [seen[0] === 'Paris' && r.finalOutput === 'Sun.', r]
})
process.exit(failed ? 1 : 0)
