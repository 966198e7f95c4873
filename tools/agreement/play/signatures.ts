/** Signs for one process, and verifies for all. */
export interface Signatures {
  sign(process: number, text: string): string
  verify(process: number, text: string, signature: string): boolean
}

/**
 * Signatures that no one can forge, because they are looked up where they were made. For plays: a real one takes as
 * long as a thousand steps.
 */
export class IdealSignatures implements Signatures {
  readonly #made = new Map<string, string>()

  sign(process: number, text: string): string {
    const key = `${process} ${text}`
    let signature = this.#made.get(key)
    if (signature === undefined) {
      signature = `s${process}.${this.#made.size}`
      this.#made.set(key, signature)
    }
    return signature
  }

  verify(process: number, text: string, signature: string): boolean {
    return this.#made.get(`${process} ${text}`) === signature
  }
}
