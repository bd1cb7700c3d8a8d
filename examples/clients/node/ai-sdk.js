// Vercel's ai with @ai-sdk/openai-compatible against a workspace.
import { jsonSchema, streamText, tool } from 'ai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { baseURL, apiKey, question, weather, check, models } from './scenario.js'

const parley = createOpenAICompatible({ name: 'parley', baseURL, apiKey, includeUsage: true })

const answer = streamText({ model: parley(models.text), messages: [question], maxRetries: 0 })
let text = ''
for await (const piece of answer.textStream) text += piece
check('ai text', text.length > 0 && (await answer.usage).totalTokens > 0, text)

const tools = { [weather.function.name]: tool({ description: weather.function.description, inputSchema: jsonSchema(weather.function.parameters) }) }
const turn = streamText({ model: parley(models.tool), prompt: 'How is the weather in Paris?', tools, maxRetries: 0 })
await turn.consumeStream()
const calls = await turn.toolCalls
check('ai tool', (await turn.finishReason) === 'tool-calls' && calls[0]?.input.city === 'Paris', calls)

let failure
const failed = streamText({ model: parley(models.error), messages: [question], maxRetries: 0, onError: ({ error }) => { failure = error } })
await failed.consumeStream()
check('ai error', failure?.statusCode === 429 && /slow down/.test(failure.message), failure)
