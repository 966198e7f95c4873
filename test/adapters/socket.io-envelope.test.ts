import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { encodeBody, ReceivedEnvelope, seal } from '../../src/adapters/socket.io/envelope.ts'

function throughMemory(body: object): unknown {
  return new ReceivedEnvelope(seal({ from: '1.2.ab', to: '/näme', body: encodeBody(body) })).open()
}

/** What Socket.IO's parser makes of it for a client: JSON, but for binary parts. */
function asJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (Array.isArray(value)) return value.map((each) => asJson(each) ?? null)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, asJson(each)]))
}

const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.constantFrom('\0', '\0b0', '\0b1', '\0s', '\0s\0b0'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.constantFrom(null, true, false),
    fc.uint8Array({ maxLength: 8 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

describe('An envelope', () => {
  it('gives back what JSON and binary parts can represent', () => {
    fc.assert(
      fc.property(values, (value) => {
        assert.deepEqual(throughMemory({ value }), { value: asJson(value) })
      }),
    )
  })

  it('says from whom it is, and to whom', () => {
    const { from, to } = new ReceivedEnvelope(seal({ from: '1.2.ab', to: '/näme', body: encodeBody({}) }))
    assert.deepEqual([from, to], ['1.2.ab', '/näme'])
  })

  it('takes what has a JSON form of its own by that form, and every kind of binary data as bytes', () => {
    const owner = { toJSON: () => ({ inner: Buffer.from('x') }) }
    const floats = new Float32Array([1, 2])
    assert.deepEqual(throughMemory({ date: new Date(0), owner, floats, buffer: floats.buffer, none: undefined }), {
      date: new Date(0).toJSON(),
      owner: { inner: Buffer.from('x') },
      floats: Buffer.from(floats.buffer),
      buffer: Buffer.from(floats.buffer),
    })
  })

  it('is of its own: what is changed later is not changed in it', () => {
    const bytes = Buffer.from('before')
    const sealed = seal({ from: '', to: '', body: encodeBody({ bytes }) })
    bytes.write('after ')
    assert.deepEqual(new ReceivedEnvelope(sealed).open(), { bytes: Buffer.from('before') })
  })
})
