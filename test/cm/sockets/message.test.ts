import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import fc from 'fast-check'
import { connectionAddress } from '../../../src/cm/address.ts'
import { decodeMessage, encodeMessage, MESSAGE_BYTES, type Message } from '../../../src/cm/sockets/message.ts'

const byte = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max })
const address: fc.Arbitrary<ReturnType<typeof connectionAddress>> = fc
  .tuple(fc.oneof(fc.ipV4(), fc.ipV6()), byte(65_535))
  .map(([text, port]) => connectionAddress(text, port))

/** Objects as literals make them. */
const PLAIN = { noNullPrototype: true } as const

const message: fc.Arbitrary<Message> = fc.record(
  {
    kind: fc.constantFrom('request', 'reply', 'reject', 'ready', 'disconnect', 'disconnect-reply'),
    portSpace: fc.constantFrom('tcp', 'udp'),
    parameters: fc.record(
      {
        privateData: fc.uint8Array({ maxLength: 196 }),
        responderResources: byte(255),
        initiatorDepth: byte(255),
        flowControl: fc.boolean(),
        retryCount: byte(7),
        rnrRetryCount: byte(7),
        sharedReceive: fc.boolean(),
        endpoint: fc.record(
          {
            gid: fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
            queuePairNumber: byte(0xffffffff),
            psn: byte(0xffffff),
          },
          PLAIN,
        ),
      },
      PLAIN,
    ),
    rejectStatus: byte(65_535),
    source: address,
    destination: address,
  },
  PLAIN,
)

test('every message survives encoding and decoding', () => {
  fc.assert(fc.property(message, (each) => assert.deepEqual(decodeMessage(encodeMessage(each)), each)))
})

test('any bytes decode to a message or to nothing', () => {
  const bytes = fc.uint8Array({ minLength: MESSAGE_BYTES, maxLength: MESSAGE_BYTES })
  fc.assert(fc.property(bytes, (each) => void decodeMessage(each)))
  const damaged = fc.tuple(message, byte(MESSAGE_BYTES - 1), byte(255))
  const holds = ([each, at, value]: [Message, number, number]): void => {
    const encoded = encodeMessage(each)
    encoded[at] = value
    const decoded = decodeMessage(encoded)
    if (decoded === undefined) return
    assert.ok(decoded.parameters.privateData.byteLength <= 196)
    assert.ok(decoded.parameters.retryCount <= 7 && decoded.parameters.rnrRetryCount <= 7)
  }
  fc.assert(fc.property(damaged, holds), { numRuns: 2000 })
})
