// What every client here does, and with what. The model names tell the
// provider behind the workspace what to answer.
export const baseURL = process.env.CLIENT_BASE_URL ?? 'http://127.0.0.1:7700/chats/demo'
export const apiKey = process.env.CLIENT_KEY ?? 'unused'
export const models = { text: 'text', tool: 'tool', error: 'error' }

export const question = { role: 'user', content: 'Which films did Christopher Nolan direct?' }

export const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather in a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  },
}

/** Prints the outcome and ends the process where it is not what it should be. */
export function check(name, ok, got) {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}`)
  if (!ok) {
    console.log(got)
    process.exit(1)
  }
}
