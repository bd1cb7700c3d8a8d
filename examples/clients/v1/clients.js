// Node clients of OpenAI's API against /v1, unmodified and at their defaults.
// Each check prints a line, "ok  CLIENT | what it shows"; the process ends with 1
// where one failed. A 429 says Retry-After: 7, which clients that ask again wait
// for: those checks alone let them ask once.
import OpenAI, { AuthenticationError, NotFoundError, RateLimitError } from 'openai'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, streamText, generateObject, tool, jsonSchema, APICallError } from 'ai'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent, OpenAIProvider, Runner, run, setDefaultOpenAIClient, setTracingDisabled, tool as agentTool } from '@openai/agents'
import { z } from 'zod'

const baseURL = process.env.CLIENT_BASE_URL ?? 'http://127.0.0.1:7700/v1'
const apiKey = process.env.CLIENT_KEY ?? 'unused'
const long = 'demo/c20000-d50' // an answer of a quarter of an hour
const prompt = 'Which films did Christopher Nolan direct?'
const messages = [{ role: 'user', content: prompt }]
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
const weather = { type: 'function', function: { name: 'weather', description: 'The weather in a city', parameters } }

let failed = false
async function check(client, shows, f) {
  const name = `${client} | ${shows}`
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

// leaves asks, and goes after a while.
async function leaves(ask) {
  const abort = new AbortController()
  const left = new Error('left')
  setTimeout(() => abort.abort(left), 700)
  try {
    return [false, await ask(abort.signal)]
  } catch (e) {
    return [abort.signal.aborted, e]
  }
}

const client = new OpenAI({ baseURL, apiKey })
const once = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
const stranger = new OpenAI({ baseURL, apiKey: 'nope' })
await check('openai', 'models', async () => {
  const ids = []
  for await (const m of client.models.list()) ids.push(m.id)
  return [ids.includes('demo/text') && (await client.models.retrieve('demo/text')).id === 'demo/text', ids]
})
await check('openai', 'whole, usage', async () => {
  const r = await client.chat.completions.create({ model: 'demo/text', messages })
  return [/Inception/.test(r.choices[0].message.content) && r.usage.total_tokens > 0, r]
})
await check('openai', 'streamed, usage', async () => {
  let text = '', usage
  for await (const c of await client.chat.completions.create({ model: 'demo/text', messages, stream: true, stream_options: { include_usage: true } })) {
    text += c.choices[0]?.delta?.content ?? ''
    usage = c.usage
  }
  return [/Inception/.test(text) && usage.total_tokens > 0, text]
})
await check('openai', 'tools', async () => {
  const r = await client.chat.completions.create({ model: 'demo/tool', messages, tools: [weather] })
  return [r.choices[0].finish_reason === 'tool_calls' && JSON.parse(r.choices[0].message.tool_calls[0].function.arguments).city === 'Paris', r]
})
await check('openai', 'structured output', async () => {
  const r = await client.chat.completions.parse({ model: 'demo/json', messages, response_format: { type: 'json_schema', json_schema: { name: 'city', schema: parameters, strict: true } } })
  return [JSON.parse(r.choices[0].message.content).city === 'Paris', r]
})
await check('openai', 'wrong key', () => raises(AuthenticationError, () => stranger.chat.completions.create({ model: 'demo/text', messages })))
await check('openai', 'unknown model', () => raises(NotFoundError, () => client.chat.completions.create({ model: 'nope', messages })))
await check('openai', '429', () => raises(RateLimitError, () => once.chat.completions.create({ model: 'demo/error', messages })))
await check('openai', 'cancel of a whole answer', () => leaves((signal) => client.chat.completions.create({ model: long, messages }, { signal })))
await check('openai', 'cancel of a stream', async () => {
  const s = await client.chat.completions.create({ model: long, messages, stream: true })
  for await (const _ of s) break
  return [s.controller.signal.aborted, s]
})
await check('openai', 'responses whole, goes on', async () => {
  const r = await client.responses.create({ model: 'demo/text', input: prompt })
  const more = await client.responses.create({ model: 'demo/text', input: 'And then?', previous_response_id: r.id })
  return [/Inception/.test(r.output_text) && more.status === 'completed', r]
})
await check('openai', 'responses streamed', async () => {
  const r = await client.responses.stream({ model: 'demo/text', input: prompt }).finalResponse()
  return [/Inception/.test(r.output_text), r]
})

const chain = (model, more) => new ChatOpenAI({ model, apiKey, ...more, configuration: { baseURL } })
await check('langchain', 'whole, usage', async () => {
  const r = await chain('demo/text').invoke(prompt)
  return [/Inception/.test(r.content) && r.usage_metadata.total_tokens > 0, r]
})
await check('langchain', 'streamed', async () => {
  let text = ''
  for await (const c of await chain('demo/text').stream(prompt)) text += c.content
  return [/Inception/.test(text), text]
})
await check('langchain', 'responses', async () => {
  const r = await chain('demo/text', { useResponsesApi: true }).invoke(prompt)
  return [/Inception/.test(r.text), r]
})
await check('langchain', 'tools', async () => {
  const r = await chain('demo/tool').bindTools([weather]).invoke(prompt)
  return [r.tool_calls[0].args.city === 'Paris', r]
})
await check('langchain', 'structured output', async () => {
  const r = await chain('demo/json').withStructuredOutput({ title: 'city', ...parameters }, { method: 'jsonSchema' }).invoke(prompt)
  return [r.city === 'Paris', r]
})
await check('langchain', 'wrong key', () => raises(AuthenticationError, () => chain('demo/text', { apiKey: 'nope' }).invoke(prompt), 401))
await check('langchain', 'unknown model', () => raises(NotFoundError, () => chain('nope').invoke(prompt), 404))
await check('langchain', '429', () => raises(RateLimitError, () => chain('demo/error', { maxRetries: 0 }).invoke(prompt), 429))
await check('langchain', 'cancel', () => leaves((signal) => chain(long).invoke(prompt, { signal })))

const openai = createOpenAI({ baseURL, apiKey })
const compatible = createOpenAICompatible({ name: 'parley', baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true })
const unknownOpenAI = createOpenAI({ baseURL, apiKey: 'nope' })
const unknownCompatible = createOpenAICompatible({ name: 'parley', baseURL, apiKey: 'nope' })
for (const [name, model, unknown] of [
  ['openai()', openai, unknownOpenAI], ['openai.chat()', openai.chat, unknownOpenAI.chat], ['openai-compatible', compatible, unknownCompatible],
]) {
  await check(`ai ${name}`, 'whole, usage', async () => {
    const r = await generateText({ model: model('demo/text'), prompt })
    return [/Inception/.test(r.text) && r.usage.totalTokens > 0, r]
  })
  await check(`ai ${name}`, 'streamed, usage', async () => {
    const errors = []
    const r = streamText({ model: model('demo/text'), prompt, onError: (e) => errors.push(e) })
    return [/Inception/.test(await r.text) && (await r.usage).totalTokens > 0 && errors.length === 0, errors]
  })
  await check(`ai ${name}`, 'whole, second turn', async () => {
    const first = await generateText({ model: model('demo/text'), prompt })
    const r = await generateText({ model: model('demo/text'), messages: [...messages, ...first.response.messages, { role: 'user', content: 'And then?' }] })
    return [/Inception/.test(r.text), r]
  })
  await check(`ai ${name}`, 'tools', async () => {
    const r = await generateText({ model: model('demo/tool'), prompt, tools: { weather: tool({ description: 'The weather in a city', inputSchema: jsonSchema(parameters) }) } })
    return [r.toolCalls[0].input.city === 'Paris', r]
  })
  await check(`ai ${name}`, 'structured output', async () => {
    const r = await generateObject({ model: model('demo/json'), prompt, schema: jsonSchema(parameters) })
    return [r.object.city === 'Paris', r]
  })
  await check(`ai ${name}`, 'wrong key', () => raises(APICallError, () => generateText({ model: unknown('demo/text'), prompt }), 401))
  await check(`ai ${name}`, 'unknown model', () => raises(APICallError, () => generateText({ model: model('nope'), prompt }), 404))
  await check(`ai ${name}`, '429', () => raises(APICallError, () => generateText({ maxRetries: 0, model: model('demo/error'), prompt }), 429))
  await check(`ai ${name}`, 'cancel', () => leaves((abortSignal) => generateText({ model: model(long), prompt, abortSignal })))
}

setDefaultOpenAIClient(client)
setTracingDisabled(true)
const provided = (openAIClient) => new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses: true }) })
await check('agents', 'whole, usage', async () => {
  const r = await run(new Agent({ name: 'a', instructions: 'Be brief.', model: 'demo' }), prompt)
  return [/Inception/.test(r.finalOutput) && r.rawResponses[0].usage.totalTokens > 0, r]
})
await check('agents', 'streamed', async () => {
  const r = await run(new Agent({ name: 'a', model: 'demo' }), prompt, { stream: true })
  for await (const _ of r) { /* to the end */ }
  return [/Inception/.test(r.finalOutput), r]
})
await check('agents', 'tools', async () => {
  const seen = []
  const t = agentTool({ name: 'weather', description: 'The weather in a city', parameters, strict: true, execute: ({ city }) => { seen.push(city); return 'Sun.' } })
  const r = await run(new Agent({ name: 'a', model: 'tool', tools: [t], toolUseBehavior: 'stop_on_first_tool' }), prompt)
  return [seen[0] === 'Paris' && r.finalOutput === 'Sun.', r]
})
await check('agents', 'structured output', async () => {
  const r = await run(new Agent({ name: 'a', model: 'json', outputType: z.object({ city: z.string() }) }), prompt)
  return [r.finalOutput.city === 'Paris', r]
})
await check('agents', 'wrong key', () => raises(AuthenticationError, () => provided(stranger).run(new Agent({ name: 'a', model: 'demo' }), prompt), 401))
await check('agents', 'unknown model', () => raises(NotFoundError, () => run(new Agent({ name: 'a', model: 'nope' }), prompt), 404))
await check('agents', '429', () => raises(RateLimitError, () => provided(once).run(new Agent({ name: 'a', model: 'error' }), prompt), 429))
await check('agents', 'cancel', () => leaves((signal) => run(new Agent({ name: 'a', model: 'long' }), prompt, { signal })))
process.exit(failed ? 1 : 0)
