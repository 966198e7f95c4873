import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeMpa, encodeMpa, FRAME_BYTES_MAX, type MpaDepths, type MpaFrame } from '../../../src/cm/iwarp/mpa.ts'
import { encodeTerminate, MpaFault } from '../../../src/cm/iwarp/terminate.ts'
import { encodeFrame, Mpa } from '../../support/foreign-peer.ts'
import { encodeSegment, Op, Queue } from '../../support/iwarp.ts'

const frame: MpaFrame = {
  kind: 'request',
  crc: true,
  rejected: false,
  revision: 2,
  depths: { ird: 16, ord: 3, peerToPeer: true, ready: ['write', 'read'] },
  privateData: Uint8Array.of(1, 2, 3),
}

test('a frame is what the RFCs say', () => {
  const depths = [16 | Mpa.PeerToPeer, 3 | Mpa.ByWrite | Mpa.ByRead] as const
  const expected = encodeFrame('Req', { flags: Mpa.Crc, depths, data: [1, 2, 3] })
  assert.deepEqual(Buffer.from(encodeMpa(frame)), expected)
  assert.deepEqual(decodeMpa(expected, 'request'), frame)
})

/** Bytes as the RFCs draw them: words of hexadecimal digits after the key. */
const wire = (key: string, words: string): Uint8Array =>
  Buffer.concat([Buffer.from(key, 'latin1'), Buffer.from(words.replaceAll(' ', ''), 'hex')])

test('the bits of each frame stand where RFC 5044 (7.1.1) and RFC 6581 (9.1) have them', () => {
  const plain = { crc: false, rejected: false, privateData: new Uint8Array(0) }
  const depths = (ready: MpaDepths['ready'], peerToPeer = true): MpaDepths => ({ ird: 5, ord: 9, peerToPeer, ready })
  const cases: readonly (readonly [MpaFrame, Uint8Array])[] = [
    [{ ...plain, kind: 'request', revision: 1, depths: undefined }, wire('MPA ID Req Frame', '0001 0000')],
    [{ ...plain, kind: 'reply', crc: true, revision: 1, depths: undefined }, wire('MPA ID Rep Frame', '4001 0000')],
    [
      { ...plain, kind: 'reply', rejected: true, revision: 1, depths: undefined },
      wire('MPA ID Rep Frame', '2001 0000'),
    ],
    [{ ...plain, kind: 'request', revision: 2, depths: undefined }, wire('MPA ID Req Frame', '0002 0000')],
    [
      { ...plain, kind: 'request', revision: 2, depths: depths([], false) },
      wire('MPA ID Req Frame', '1002 0004 0005 0009'),
    ],
    [
      { ...plain, kind: 'request', revision: 2, depths: depths(['send']) },
      wire('MPA ID Req Frame', '1002 0004 c005 0009'),
    ],
    [
      { ...plain, kind: 'request', revision: 2, depths: depths(['write']) },
      wire('MPA ID Req Frame', '1002 0004 8005 8009'),
    ],
    [
      { ...plain, kind: 'reply', revision: 2, depths: depths(['read']) },
      wire('MPA ID Rep Frame', '1002 0004 8005 4009'),
    ],
    [
      {
        ...plain,
        kind: 'request',
        revision: 2,
        depths: depths(['write', 'read', 'send']),
        privateData: Uint8Array.of(7),
      },
      wire('MPA ID Req Frame', '1002 0005 c005 c009 07'),
    ],
    // The largest of both.
    [
      { ...plain, kind: 'request', revision: 2, depths: { ird: 0x3fff, ord: 0x3fff, peerToPeer: false, ready: [] } },
      wire('MPA ID Req Frame', '1002 0004 3fff 3fff'),
    ],
  ]
  for (const [frame, bytes] of cases) {
    assert.deepEqual(Buffer.from(encodeMpa(frame)), bytes)
    assert.deepEqual(decodeMpa(bytes, frame.kind), frame)
  }
})

test('the TERMINATE of a caller is an untagged message of queue 2, with the codes of RFC 6581 (8)', () => {
  const digits = (fault: MpaFault): string => Buffer.from(encodeTerminate(fault, false)).toString('hex')
  assert.equal(digits(MpaFault.InsufficientIrd), '00164147000000000000000200000001000000002006000000000000')
  assert.equal(digits(MpaFault.NoMatchingReady), '00164147000000000000000200000001000000002007000000000000')
  // As the tests' own encoder has it, with its CRC.
  const payload = Uint8Array.of(0x20, 0x06, 0, 0)
  const expected = encodeSegment({ op: Op.Terminate, queue: Queue.Terminate, payload }, true)
  assert.deepEqual(Buffer.from(encodeTerminate(MpaFault.InsufficientIrd, true)), expected)
})

test('revision 1 has no depths', () => {
  const old: MpaFrame = { ...frame, kind: 'reply', crc: false, revision: 1, depths: undefined }
  assert.deepEqual(Buffer.from(encodeMpa(old)), encodeFrame('Rep', { revision: 1, data: [1, 2, 3] }))
  assert.deepEqual(decodeMpa(encodeMpa(old), 'reply'), old)
})

test('every shorter piece of a frame is partial, and one that is longer is broken', () => {
  const bytes = encodeMpa(frame)
  for (let length = 0; length < bytes.length; length += 1)
    assert.equal(decodeMpa(bytes.subarray(0, length), 'request'), 'partial')
  assert.equal(decodeMpa(Uint8Array.of(...bytes, 0), 'request'), 'broken')
})

test('what is none, or asks for what we do not speak, is broken', () => {
  const { PeerToPeer, Markers, Enhanced } = Mpa
  const long = encodeFrame('Req', { data: Array(513).fill(0) })
  const broken = {
    'a reply': encodeFrame('Rep', {}),
    text: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    markers: encodeFrame('Req', { flags: Markers }),
    'revision 0': encodeFrame('Req', { revision: 0 }),
    'revision 3': encodeFrame('Req', { revision: 3 }),
    'depths that are missing': encodeFrame('Req', { flags: Enhanced }),
    'too much private data': long,
    'too much private data, announced': long.subarray(0, 20),
  }
  for (const [what, bytes] of Object.entries(broken)) assert.equal(decodeMpa(bytes, 'request'), 'broken', what)
  assert.ok(long.length > FRAME_BYTES_MAX)
  // A caller that wants the responder to wait, and offers no way to show that it is ready.
  const none = decodeMpa(encodeFrame('Req', { depths: [1 | PeerToPeer, 1] }), 'request')
  assert.deepEqual(typeof none === 'object' ? none.depths : none, { ird: 1, ord: 1, peerToPeer: true, ready: [] })
})
