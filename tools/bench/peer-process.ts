/** The other end of a benchmark, in a process of its own: memory to reach, and a thread that answers messages. */
import { native } from 'aether-dsm/internal/native'
import {
  Access,
  CompletionBatch,
  CompletionFlag,
  CompletionOpcode,
  type CompletionQueue,
  type MemoryRegion,
  openDevice,
  type PreparedReceive,
  type PreparedRequest,
  type QueuePair,
  type RegionToken,
} from 'aether-dsm/internal/verbs'
import { endWithParent } from './ended-by-parent.ts'
import { DriveMark, type FromPeer, nextMark, RECEIVE_DEPTH, SEND_DEPTH, type ToPeer, WINDOW } from './messages.ts'

const ALL = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic
/** Empty polls between two looks at whether the parent still lives. */
const PARENT_CHECK_POLLS = 1 << 16
/** And between two windows. */
const PARENT_CHECK_WINDOWS = 256

class Peer {
  readonly #parent = process.ppid
  readonly #batch = new CompletionBatch(64)
  #memory: MemoryRegion | undefined
  #queue: CompletionQueue | undefined
  #pair: QueuePair | undefined

  open(deviceName: string, bytes: number): FromPeer {
    const device = openDevice(deviceName)
    const domain = device.createProtectionDomain()
    this.#memory = domain.allocate(2 * bytes, ALL)
    this.#queue = device.createCompletionQueue({ depth: 4 * (RECEIVE_DEPTH + SEND_DEPTH) })
    this.#pair = domain.createQueuePair({
      type: 'rc',
      sendQueue: this.#queue,
      receiveQueue: this.#queue,
      maxSendRequests: SEND_DEPTH,
      maxReceiveRequests: RECEIVE_DEPTH,
    })
    return { kind: 'opened', endpoint: this.#pair.endpoint, token: this.#memory.token }
  }

  connect(endpoint: Parameters<QueuePair['connect']>[0]): FromPeer {
    this.#pair!.connect(endpoint)
    return { kind: 'connected' }
  }

  /** Answer SENDs, or take them. Blocks this thread, spinning. */
  serve(bytes: number, answer: boolean): void {
    const memory = this.#memory!
    const pair = this.#pair!
    const receive = pair.prepareReceive({ local: memory.subarray(0, bytes) })
    this.#answer(receive, answer ? pair.prepareSend({ local: memory.subarray(bytes, 2 * bytes) }) : undefined)
  }

  /** Answer WRITEs with an immediate by such. Blocks this thread, spinning. */
  writeBack(bytes: number, token: RegionToken): void {
    const memory = this.#memory!
    const pair = this.#pair!
    const remote = { address: token.address + bytes, key: token.key }
    const local = memory.subarray(bytes, 2 * bytes)
    this.#answer(pair.prepareReceive({ local: [] }), pair.prepareWrite({ local, remote, immediate: 0 }))
  }

  /** Until an immediate says that it is over. */
  #answer(receive: PreparedReceive, reply: PreparedRequest | undefined): void {
    const queue = this.#queue!
    for (let index = 0; index < RECEIVE_DEPTH; index += 1) receive.post(index)
    say({ kind: 'ready' })
    const batch = this.#batch
    for (let idle = 0, serving = true; serving; ) {
      const count = queue.poll(batch)
      idle = count === 0 ? idle + 1 : 0
      if (idle % PARENT_CHECK_POLLS === PARENT_CHECK_POLLS - 1 && process.ppid !== this.#parent) process.exit(0)
      for (let row = 0; row < count; row += 1) {
        if (batch.status[row] !== 0) process.exit(1)
        const opcode = batch.opcode[row]
        if (opcode !== CompletionOpcode.Receive && opcode !== CompletionOpcode.ReceiveWriteWithImmediate) continue
        const isMarked = (batch.flags[row]! & CompletionFlag.WithImmediate) !== 0
        if (isMarked && batch.immediate[row] === DriveMark.End) serving = false
        else {
          receive.post(1)
          reply?.post(2)
        }
      }
    }
    this.#renew()
  }

  /** Watch the last byte that the other end writes, and write back. Blocks this thread, spinning. */
  watch(bytes: number, token: RegionToken): void {
    const memory = this.#memory!
    const pair = this.#pair!
    const queue = this.#queue!
    const seen = memory.bytes
    const last = bytes - 1
    const answer = pair.prepareWrite({
      local: memory.subarray(bytes, 2 * bytes),
      remote: { address: token.address + bytes, key: token.key },
    })
    seen[last] = 0
    pair.prepareReceive({ local: memory.subarray(0, bytes) }).post(1)
    say({ kind: 'ready' })
    const batch = this.#batch
    for (let expected = 1, polls = 0; ; ) {
      if (Atomics.load(seen, last) === expected) {
        seen[bytes + last] = expected
        answer.post(2)
        expected = nextMark(expected)
      }
      const count = queue.poll(batch)
      polls += 1
      if (polls % PARENT_CHECK_POLLS === 0 && process.ppid !== this.#parent) process.exit(0)
      let isOver = false
      for (let row = 0; row < count; row += 1) {
        if (batch.status[row] !== 0) process.exit(1)
        if ((batch.flags[row]! & CompletionFlag.WithImmediate) !== 0) isOver = true
      }
      if (isOver) break
    }
    this.#renew()
  }

  /** Post windows of the same request, counting those between the marks. Blocks this thread, spinning. */
  drive(op: 'write' | 'read', bytes: number, token: RegionToken): FromPeer {
    const memory = this.#memory!
    const pair = this.#pair!
    const fields = {
      local: memory.subarray(bytes, 2 * bytes),
      remote: { address: token.address + bytes, key: token.key },
    }
    const request = op === 'write' ? pair.prepareWrite(fields) : pair.prepareRead(fields)
    const receive = pair.prepareReceive({ local: memory.subarray(0, bytes) })
    receive.post(1)
    receive.post(1)
    say({ kind: 'ready' })
    let [began, cpuBegan] = [native.monotonicNs(), native.processorNs(true)]
    let operations = 0
    for (let windows = 1; ; windows += 1) {
      request.signaled = false
      for (let posted = 1; posted < WINDOW; posted += 1) request.post(1)
      request.signaled = true
      request.post(2)
      const mark = this.#finishWindow()
      operations += WINDOW
      if (mark === DriveMark.Begin) {
        ;[began, cpuBegan] = [native.monotonicNs(), native.processorNs(true)]
        operations = 0
      } else if (mark === DriveMark.End) break
      if (windows % PARENT_CHECK_WINDOWS === 0 && process.ppid !== this.#parent) process.exit(0)
    }
    const driven = { operations, tookNs: native.monotonicNs() - began, cpuNs: native.processorNs(true) - cpuBegan }
    this.#renew()
    return { kind: 'driven', driven }
  }

  /** Poll until the window's completion has come: the mark that came with it, if one did. */
  #finishWindow(): number | undefined {
    const batch = this.#batch
    let mark: number | undefined
    for (let isDone = false; !isDone; ) {
      const count = this.#queue!.poll(batch)
      for (let row = 0; row < count; row += 1) {
        if (batch.status[row] !== 0) process.exit(1)
        if ((batch.flags[row]! & CompletionFlag.WithImmediate) !== 0) mark = batch.immediate[row]
        else isDone = true
      }
    }
    return mark
  }

  /** A queue pair in RESET forgets the receives that are left, so that the next phase may have other lengths. */
  #renew(): void {
    this.#pair!.toReset()
  }
}

function say(message: FromPeer): void {
  process.send?.(message)
}

const peer = new Peer()

process.on('message', (message: ToPeer) => {
  switch (message.kind) {
    case 'open':
      say(peer.open(message.device, message.bytes))
      break
    case 'connect':
      say(peer.connect(message.endpoint))
      break
    case 'echo':
    case 'sink':
      peer.serve(message.bytes, message.kind === 'echo')
      break
    case 'write-back':
      peer.writeBack(message.bytes, message.token)
      break
    case 'watch':
      peer.watch(message.bytes, message.token)
      break
    case 'drive':
      say(peer.drive(message.op, message.bytes, message.token))
      break
    case 'cpu':
      say({ kind: 'cpu', ns: native.processorNs(true) })
      break
    case 'ipc':
      say(message)
      break
  }
})
endWithParent()
