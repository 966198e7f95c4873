/**
 * A process with memory of 64 KiB that others read and write. Each caller gets a queue pair of its own, for as long as
 * this process lives.
 */
import { createServer } from 'node:net'
import { Access, openDevice } from '../../../src/verbs/index.ts'
import { introduce, understand } from './target.ts'

const device = openDevice(process.argv[2] ?? 'rxe0')
const domain = device.createProtectionDomain()
const queue = device.createCompletionQueue({ depth: 256 })
const memory = domain.allocate(65_536, Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic)

const server = createServer((socket) => {
  let text = ''
  socket.setEncoding('utf8')
  socket.on('error', (error) => console.log(error.message))
  socket.on('data', (piece: string) => {
    text += piece
    if (!text.endsWith('\n')) return
    const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
    pair.connect(understand(text).endpoint)
    socket.end(introduce(pair.endpoint, memory.token))
  })
})
server.listen(0, () => {
  const address = server.address()
  console.log(`target is listening on port ${typeof address === 'object' ? address?.port : address}`)
})
