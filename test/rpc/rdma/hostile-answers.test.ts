import assert from 'node:assert/strict'
import process from 'node:process'
import test from 'node:test'
import { encodeExtension, NO_EXTENSION } from '../../../src/rpc/extension.ts'
import { FrameFlag, FrameKind, PROTOCOL_VERSION } from '../../../src/rpc/frame.ts'
import { bytes, defineService, openChannel, RpcError, unary } from '../../../src/rpc/index.ts'
import { frame, sendRaw } from '../raw-frames.ts'
import { rejection } from '../support.ts'
import { LendingTally } from './lending-tally.ts'
import { linkPair } from './pairs.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }
const place = { device: 'shm0', address: '127.0.0.1' }
const service = defineService({ name: 'asked', methods: { give: unary({ codec: bytes }) } })
const nothing = new Uint8Array(0)

test(
  'a server that offers an answer and then cancels the call loses its connection, and the call ends',
  options,
  async () => {
    await using links = await linkPair(place, 'auto')
    const { client: link, server: bad } = links
    const tally = new LendingTally(link)
    tally.hold()
    const extension = encodeExtension({
      ...NO_EXTENSION,
      body: { address: 4096, key: 77, length: 100_000 },
    })!
    bad.onMessage = (ring, offset) => {
      const view = new DataView(ring.buffer, ring.byteOffset + offset)
      if (view.getUint8(0) !== FrameKind.Request) return
      const call = view.getUint32(4, true)
      sendRaw(bad, frame(FrameKind.Answer, FrameFlag.Offered, extension.length, call, 0, 0, extension))
      void tally.begun.then(() => sendRaw(bad, frame(FrameKind.Cancel, 0, 0, call, 0, 0, nothing)))
    }
    bad.onEnd = () => undefined
    const incarnation = new Uint8Array(Float64Array.of(7).buffer)
    sendRaw(bad, frame(FrameKind.Hello, 0, 0, 0, PROTOCOL_VERSION, 8, incarnation))
    await using channel = openChannel(link)
    await channel.ready()
    const error = await rejection(channel.client(service).give(nothing))
    assert.ok(error instanceof RpcError)
    assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_CONNECTION_LOST', 'unknown'])
  },
)
