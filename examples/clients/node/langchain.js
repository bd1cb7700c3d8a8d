// @langchain/openai against a workspace.
import { ChatOpenAI } from '@langchain/openai'
import { baseURL, apiKey, question, weather, check, models } from './scenario.js'

const model = (name) => new ChatOpenAI({ model: name, apiKey, configuration: { baseURL }, streaming: true, maxRetries: 0, useResponsesApi: false })

let text = ''
for await (const chunk of await model(models.text).stream([question])) text += chunk.content
check('langchain text', text.length > 0, text)

let whole
for await (const chunk of await model(models.tool).bindTools([weather]).stream('How is the weather in Paris?')) whole = whole ? whole.concat(chunk) : chunk
check('langchain tool', whole.tool_calls[0]?.args.city === 'Paris', whole.tool_calls)

try {
  await model(models.error).stream([question])
  check('langchain error', false, 'no error came')
} catch (e) {
  check('langchain error', e.status === 429 && /slow down/.test(e.message), String(e))
}
