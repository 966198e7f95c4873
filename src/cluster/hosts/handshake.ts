/**
 * How two ends that share a secret prove it to each other, before either says anything else.
 *
 * ```
 *   listener → caller   magic, nonce of the listener
 *   caller → listener   magic, nonce of the caller, HMAC(secret, "caller", both nonces)
 *   listener → caller   1, HMAC(secret, "listener", both nonces)      or 0, why not
 * ```
 *
 * 1. A proof is good for these two nonces only, so it cannot be replayed.
 * 2. The role is in it, so it cannot be sent back to its maker.
 * 3. It begins with a text of this protocol's own, so the secret may serve other purposes too.
 *
 * The keys of what follows come from the same nonces.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const MAGIC = Buffer.from('AETHERm1')
const NONCE_BYTES = 32
const PROOF_BYTES = 32
const DOMAIN = 'aether rendezvous 1'

/** Why a caller was not let in. It is a number, because text from a stranger is not printed. */
const RefusalReason = { Secret: 1, Protocol: 2 } as const

/** Keys of the two directions. */
export interface SessionKeys {
  readonly fromCaller: Buffer
  readonly fromListener: Buffer
}

/** What a step of the handshake leads to. */
export type HandshakeStep =
  | { readonly kind: 'continue'; readonly reply: Buffer }
  | { readonly kind: 'done'; readonly reply: Buffer | undefined; readonly keys: SessionKeys }
  | { readonly kind: 'failed'; readonly reply: Buffer | undefined; readonly failure: HandshakeFailure }

/**
 * `secret`: the other end has another secret. `refused`: the other end says that ours is wrong. `protocol`: the other
 * end does not speak this protocol.
 */
export type HandshakeFailure = 'secret' | 'refused' | 'protocol'

/** One end of a handshake. It is fed the frames of the other end, one after the other. */
export interface Handshake {
  /** What to send before anything has arrived. */
  readonly opening: Buffer | undefined
  step(frame: Buffer): HandshakeStep
}

/** The end that was called. */
export class ListenerHandshake implements Handshake {
  readonly opening: Buffer
  readonly #secret: Buffer
  readonly #nonce = randomBytes(NONCE_BYTES)

  constructor(secret: Buffer) {
    this.#secret = secret
    this.opening = Buffer.concat([MAGIC, this.#nonce])
  }

  step(frame: Buffer): HandshakeStep {
    if (frame.length !== MAGIC.length + NONCE_BYTES + PROOF_BYTES || !beginsWithMagic(frame))
      return failed('protocol', Buffer.of(0, RefusalReason.Protocol))
    const callerNonce = frame.subarray(MAGIC.length, MAGIC.length + NONCE_BYTES)
    const nonces = Buffer.concat([this.#nonce, callerNonce])
    const proof = frame.subarray(MAGIC.length + NONCE_BYTES)
    if (!timingSafeEqual(proof, derive(this.#secret, 'caller', nonces)))
      return failed('secret', Buffer.of(0, RefusalReason.Secret))
    const reply = Buffer.concat([Buffer.of(1), derive(this.#secret, 'listener', nonces)])
    return { kind: 'done', reply, keys: sessionKeys(this.#secret, nonces) }
  }
}

/** The end that calls. */
export class CallerHandshake implements Handshake {
  readonly opening: undefined = undefined
  readonly #secret: Buffer
  readonly #nonce = randomBytes(NONCE_BYTES)
  #nonces: Buffer | undefined

  constructor(secret: Buffer) {
    this.#secret = secret
  }

  step(frame: Buffer): HandshakeStep {
    return this.#nonces === undefined ? this.#answer(frame) : this.#judge(frame, this.#nonces)
  }

  #answer(frame: Buffer): HandshakeStep {
    if (frame.length !== MAGIC.length + NONCE_BYTES || !beginsWithMagic(frame)) return failed('protocol', undefined)
    this.#nonces = Buffer.concat([frame.subarray(MAGIC.length), this.#nonce])
    return {
      kind: 'continue',
      reply: Buffer.concat([MAGIC, this.#nonce, derive(this.#secret, 'caller', this.#nonces)]),
    }
  }

  #judge(frame: Buffer, nonces: Buffer): HandshakeStep {
    if (frame.length === 2 && frame[0] === 0)
      return failed(frame[1] === RefusalReason.Secret ? 'refused' : 'protocol', undefined)
    if (frame.length !== 1 + PROOF_BYTES || frame[0] !== 1) return failed('protocol', undefined)
    if (!timingSafeEqual(frame.subarray(1), derive(this.#secret, 'listener', nonces)))
      return failed('secret', undefined)
    return { kind: 'done', reply: undefined, keys: sessionKeys(this.#secret, nonces) }
  }
}

function failed(failure: HandshakeFailure, reply: Buffer | undefined): HandshakeStep {
  return { kind: 'failed', reply, failure }
}

function beginsWithMagic(frame: Buffer): boolean {
  return frame.subarray(0, MAGIC.length).equals(MAGIC)
}

function sessionKeys(secret: Buffer, nonces: Buffer): SessionKeys {
  return {
    fromCaller: derive(secret, 'key of the caller', nonces),
    fromListener: derive(secret, 'key of the listener', nonces),
  }
}

/** The nonces have a fixed length and come last, so no two purposes have the same input. */
function derive(secret: Buffer, purpose: string, nonces: Buffer): Buffer {
  return createHmac('sha256', secret).update(`${DOMAIN}\0${purpose}\0`).update(nonces).digest()
}
