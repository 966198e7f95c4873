import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'

/** The two keys of a process as text, as they are given to it. */
interface KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

export function makeKeys(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
    publicKey: publicKey.export({ format: 'pem', type: 'spki' }) as string,
  }
}

/** The other end of a connection. */
export type Party = `process ${number}` | `memory ${number}`

export const newChallenge = (): string => randomBytes(16).toString('hex')

/**
 * What a process signs to show who it is. It names the other end, so that a process that is asked cannot show it
 * elsewhere; and no algorithm signs a text that begins like this.
 */
const connectionText = (challenge: string, to: Party): string => `connection to ${to}: ${challenge}`

/** Verifies what processes have signed with Ed25519 (RFC 8032). */
export class PublicKeys {
  readonly #keys: readonly KeyObject[]

  constructor(keys: readonly string[]) {
    this.#keys = keys.map((key) => createPublicKey(key))
  }

  verify(process: number, text: string, signature: string): boolean {
    const key = Number.isSafeInteger(process) ? this.#keys[process] : undefined
    if (key === undefined || typeof signature !== 'string') return false
    const bytes = Buffer.from(signature, 'base64')
    // Only as it was made: one with more behind it may not fit where a correct process copies it to.
    return bytes.toString('base64') === signature && verify(null, Buffer.from(text), key, bytes)
  }

  /** True if that process has answered the challenge of `to`. */
  verifyConnection(process: number, challenge: string, to: Party, signature: string): boolean {
    return this.verify(process, connectionText(challenge, to), signature)
  }
}

/** Signs for one process. */
export class PrivateKey {
  readonly #key: KeyObject

  constructor(key: string) {
    this.#key = createPrivateKey(key)
  }

  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#key).toString('base64')
  }

  /** Answers the challenge of `to`. */
  signConnection(challenge: string, to: Party): string {
    return this.sign(connectionText(challenge, to))
  }
}
