import { strict as assert } from 'node:assert'
import { ConnectionRejectedError, ConnectionRequest, connect } from '../../../cm/index.ts'
import { openDevice, QueuePairState } from '../../../verbs/index.ts'
import { type ConnectionCase, failureOf, soon } from '../context.ts'

/** Connections that are not made. */
export const refusingCases: readonly ConnectionCase[] = [
  {
    name: 'a rejected connect rejects, with the private data',
    rule: 'rdma_reject(3); IBA specification 12.6.7: 148 bytes',
    async run(context) {
      const listener = await context.listen()
      const connecting = context.connect(listener)
      const request = await context.request(listener)
      const why = Uint8Array.from({ length: 148 }, (_, index) => 200 - index)
      request.reject(why)
      assert.equal(request.pending, false)
      const error = await failureOf(connecting)
      assert.ok(error instanceof ConnectionRejectedError, String(error))
      assert.equal(error.code, 'ERR_AETHER_CONNECTION')
      assert.equal(error.reason, 'consumer')
      assert.deepEqual([...error.privateData], [...why])
      await assert.rejects(request.accept(), { code: 'ERR_AETHER_CLOSED' })
    },
  },
  {
    name: 'a connect is rejected if no one listens',
    rule: 'IBA specification 12.6.7.2: invalid service ID',
    async run(context) {
      const listener = await context.listen()
      listener.close()
      await assert.rejects(context.connect(listener), { name: 'ConnectionRejectedError', reason: 'no-listener' })
    },
  },
  {
    name: 'a datagram service that says no, and one that is not there',
    rule: 'rdma_reject(3): datagram service lookup request',
    async run(context) {
      const listener = await context.listen({ portSpace: 'udp' })
      const connecting = failureOf(context.connect(listener))
      const request = await Promise.race([context.request(listener), connecting])
      if (!(request instanceof ConnectionRequest)) throw request
      request.reject(Uint8Array.of(9))
      const error = await connecting
      assert.ok(error instanceof ConnectionRejectedError, String(error))
      assert.equal(error.reason, 'consumer')
      assert.equal(error.privateData[0], 9)
      listener.close()
      await assert.rejects(context.connect(listener), { name: 'ConnectionRejectedError', reason: 'no-listener' })
    },
  },
  {
    name: 'a port that is taken is refused',
    rule: 'rdma_bind_addr(3): EADDRINUSE',
    async run(context) {
      const listener = await context.listen()
      await assert.rejects(context.listen({ port: listener.port }), { name: 'ConnectionError', stage: 'listen' })
      listener.close()
      await context.listen({ port: listener.port })
    },
  },
  {
    name: 'a listener that does not answer ends the connect at its deadline, and the request with it',
    rule: "this project's contract: every wait has a deadline",
    async run(context) {
      const listener = await context.listen()
      await assert.rejects(context.connect(listener, { timeoutMs: 300 }), { code: 'ERR_AETHER_TIMEOUT' })
      const request = await listener.next({ timeoutMs: 200 }).catch(() => undefined)
      if (request === undefined) return
      // The request was handed out before the withdrawal became known; then accepting it fails too.
      await assert.rejects(soon(request.accept({ timeoutMs: 5000 }), 'the end of an accept whose caller has gone'))
    },
  },
  {
    name: 'a signal ends a connect with its reason',
    rule: "this project's contract",
    async run(context) {
      const listener = await context.listen()
      const reason = new Error('enough')
      const controller = new AbortController()
      const connecting = context.connect(listener, { signal: controller.signal })
      await context.request(listener)
      controller.abort(reason)
      assert.equal(await failureOf(connecting), reason)
      const { device, address } = context.setup
      const late = connect({ device, address, port: listener.port, signal: controller.signal })
      assert.equal(await failureOf(late), reason)
    },
  },
  {
    name: 'silence ends at the deadline',
    rule: "this project's contract: every wait has a deadline",
    needs: 'silentAddress',
    async run({ setup }) {
      const { device, silentAddress } = setup
      const connecting = connect({ device, address: silentAddress!, port: 7471, timeoutMs: 2000 })
      const error = await soon(failureOf(connecting), 'the end of the connect')
      const { code } = error as { readonly code?: string }
      assert.ok(code === 'ERR_AETHER_TIMEOUT' || code === 'ERR_AETHER_CONNECTION', String(error))
    },
  },
  {
    name: 'a closed listener rejects waiting calls, and ends the iteration',
    rule: "this project's contract",
    async run(context) {
      const listener = await context.listen()
      const connecting = context.connect(listener)
      await context.request(listener)
      const ended = (async (): Promise<number> => {
        let count = 0
        for await (const _ of listener) count += 1
        return count
      })()
      listener.close()
      assert.equal(await ended, 0)
      await assert.rejects(connecting, { name: 'ConnectionRejectedError' })
    },
  },
  {
    name: 'a request that is not answered in time is rejected',
    rule: "this project's contract: answerTimeoutMs",
    async run(context) {
      const listener = await context.listen({ answerTimeoutMs: 100 })
      await assert.rejects(context.connect(listener), { name: 'ConnectionRejectedError', reason: 'consumer' })
    },
  },
  {
    name: 'requests beyond the backlog are rejected',
    rule: 'rdma_listen(3): backlog',
    async run(context) {
      const listener = await context.listen({ backlog: 1 })
      const first = context.connect(listener)
      const request = await context.request(listener)
      await assert.rejects(context.connect(listener), { name: 'ConnectionRejectedError' })
      context.keep(await request.accept())
      await first
    },
  },
  {
    name: 'an accept that fails leaves nothing, and the peer is told',
    rule: "this project's contract: every error path releases what it took",
    async run(context) {
      const listener = await context.listen()
      const connecting = failureOf(context.connect(listener))
      const request = await context.request(listener)
      const mishap = new Error('of the program itself')
      const prepare = (): void => {
        throw mishap
      }
      assert.equal(await failureOf(request.accept({ prepare })), mishap)
      const error = (await soon(connecting, 'the end of the connect')) as { readonly code?: string }
      assert.equal(error.code, 'ERR_AETHER_CONNECTION', String(error))
    },
  },
  {
    name: "after a rejection the program's own queue pair can be used again",
    rule: "this project's contract",
    async run(context) {
      const device = context.keep(openDevice(context.setup.device))
      const domain = device.createProtectionDomain()
      const queue = device.createCompletionQueue({ depth: 32 })
      const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
      const listener = await context.listen()
      const connecting = failureOf(context.connect(listener, { pair }))
      ;(await context.request(listener)).reject()
      assert.ok((await connecting) instanceof ConnectionRejectedError)
      assert.equal(pair.state, QueuePairState.Reset)
      const accepted = context.accept(listener)
      await context.connect(listener, { pair })
      await accepted
      assert.equal(pair.state, QueuePairState.ReadyToSend)
    },
  },
]
