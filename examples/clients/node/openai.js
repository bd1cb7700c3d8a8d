// The official openai package against a workspace: streamed text, a client
// tool call, a provider's error.
import OpenAI, { APIError } from 'openai'
import { baseURL, apiKey, question, weather, check, models } from './scenario.js'

const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })

let text = ''
const stream = await client.chat.completions.create({ model: models.text, stream: true, messages: [question], stream_options: { include_usage: true } })
let usage
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta?.content ?? ''
  usage ??= chunk.usage
}
check('openai text', text.length > 0 && usage?.total_tokens > 0, text)

const turn = client.chat.completions.stream({ model: models.tool, messages: [{ role: 'user', content: 'How is the weather in Paris?' }], tools: [weather] })
const message = (await turn.finalChatCompletion()).choices[0]
check('openai tool', message.finish_reason === 'tool_calls' && JSON.parse(message.message.tool_calls[0].function.arguments).city === 'Paris', message)

try {
  await client.chat.completions.create({ model: models.error, stream: true, messages: [question] })
  check('openai error', false, 'no error came')
} catch (e) {
  check('openai error', e instanceof APIError && e.status === 429 && /slow down/.test(e.message), String(e))
}
