/** A program that is an MCP server: its one tool weighs things, for `$WHO`. */
export const scales = `
const answers = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 't', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'weigh', description: 'Weighs.', inputSchema: { type: 'object', properties: { what: { type: 'string' } } } }] }),
  'tools/call': ({ arguments: { what } }) => ({ content: [{ type: 'text', text: what + ' weighs 3 kg for ' + process.env.WHO }] }),
}
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (answers[method]) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }) + '\\n')
})`
