import type { Codec } from '../codecs/index.ts'

/**
 * A codec of a method. Those of `aether-dsm/structures` fit. So does a packer of msgpackr with a name:
 * `Object.assign(new Packr({ copyBuffers: true }), { name: 'msgpack' })`. Without `copyBuffers` the bytes in its values
 * are views of the input of {@link RpcCodec.decode}.
 */
export interface RpcCodec<V = unknown> extends Codec<V> {
  /**
   * True if requests are passed without {@link decode}: the handler gets the bytes themselves, until it returns or
   * awaits.
   */
  readonly borrows?: boolean
}
