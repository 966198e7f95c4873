/** The program of an IO thread: lets in who is handed to it, has the role serve them, and ends as it is told. */
import { parentPort, workerData } from 'node:worker_threads'
import { type HandedRequest, takeRequest } from '../../cm/index.ts'
import { native } from '../../native/index.ts'
import { DeviceContext } from '../device-context.ts'
import { admissionOf, admitLink, type LinkPeer } from '../link-admission.ts'
import type { VerbsLink } from '../verbs-link.ts'
import {
  type FromThread,
  type IoThread,
  type LinkTaker,
  packError,
  type ThreadRole,
  type ThreadStart,
  ThreadWord,
  type ToThread,
} from './thread-contract.ts'

const start = workerData as ThreadStart
const words = new Int32Array(start.words)
let closing = false

// Before anything is loaded: memory that is touched first from here lies near.
if (start.cpus.length > 0) native.setAffinity(Int32Array.from(start.cpus))
// However it ends, unless it is terminated: what this thread had open the process would keep.
process.on('exit', () => DeviceContext.closeAll())

const thread: IoThread = {
  index: start.index,
  threadId: native.threadId(),
  cpus: [...native.getAffinity()],
  data: start.data,
}
const role = (await import(start.roleUrl)) as ThreadRole
const taker = await role.open(await import(start.moduleUrl), thread, start.options)
const admission = admissionOf(start.options)
const onClientError = (error: unknown): void => {
  Atomics.add(words, ThreadWord.Refused, 1)
  tell({ kind: 'client-error', error: packError(error) })
}

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'close') void close(taker, message.timeoutMs)
  else admit(message.request)
})
tell({ kind: 'up', threadId: thread.threadId, cpus: thread.cpus })

function tell(message: FromThread): void {
  parentPort?.postMessage(message)
}

function admit(request: HandedRequest): void {
  const onLink = (link: VerbsLink, peer: LinkPeer): void => {
    Atomics.add(words, ThreadWord.Accepted, 1)
    Atomics.add(words, ThreadWord.Connections, 1)
    // Closed by the listener's thread once the connection is over.
    request.port.once('close', () => Atomics.sub(words, ThreadWord.Connections, 1))
    if (closing) link.destroy()
    else taker.onLink(link, peer)
  }
  void admitLink(takeRequest(request), { ...start.options, onLink, onClientError }, admission)
}

async function close(of: LinkTaker, timeoutMs: number): Promise<void> {
  if (closing) return
  closing = true
  const timer = setTimeout(() => process.exit(0), timeoutMs)
  admission.pools?.close()
  await of.close(timeoutMs)
  clearTimeout(timer)
  process.exit(0)
}
