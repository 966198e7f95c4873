import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeMpa, encodeMpa, FRAME_BYTES_MAX, type MpaFrame } from '../../../src/cm/iwarp/mpa.ts'
import { encodeFrame, Mpa } from '../../support/foreign-peer.ts'

const frame: MpaFrame = {
  kind: 'request',
  crc: true,
  rejected: false,
  revision: 2,
  depths: { ird: 16, ord: 3, ready: ['write', 'read'] },
  privateData: Uint8Array.of(1, 2, 3),
}

test('a frame is what the RFCs say', () => {
  const depths = [16 | Mpa.PeerToPeer, 3 | Mpa.ByWrite | Mpa.ByRead] as const
  const expected = encodeFrame('Req', { flags: Mpa.Crc, depths, data: [1, 2, 3] })
  assert.deepEqual(Buffer.from(encodeMpa(frame)), expected)
  assert.deepEqual(decodeMpa(expected, 'request'), frame)
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
  assert.deepEqual(typeof none === 'object' ? none.depths : none, { ird: 1, ord: 1, ready: [] })
})
