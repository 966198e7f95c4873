interface Version {
  readonly author: number
  readonly bytes: Uint8Array
}

const NOBODY = -1

/** What a page was, one store after the other, since it was last kept for good. */
export class PageVersions {
  /** The first is kept. */
  #versions: Version[]
  /** The number of the first. */
  #first = 0

  constructor(bytes: Uint8Array) {
    this.#versions = [{ author: NOBODY, bytes }]
  }

  /** Who stored last. */
  get author(): number {
    return this.#versions.at(-1)!.author
  }

  add(author: number, bytes: Uint8Array): void {
    this.#versions.push({ author, bytes })
  }

  /** The number of the last that `author` has made; 0 if it has made none. */
  latestOf(author: number): number {
    return (
      this.#first +
      Math.max(
        0,
        this.#versions.findLastIndex((version) => version.author === author),
      )
    )
  }

  /** Whatever happens, the page will not be older than that. */
  keep(version: number): void {
    const older = Math.min(version - this.#first, this.#versions.length - 1)
    if (older <= 0) return
    this.#versions.splice(0, older)
    this.#first += older
  }

  keepLatest(): void {
    this.keep(this.#first + this.#versions.length - 1)
  }

  /** False where the page was never so since it was kept, or is so. */
  goBackTo(bytes: Uint8Array): boolean {
    const version = this.#versions.findLastIndex((each) => Buffer.compare(each.bytes, bytes) === 0)
    if (version < 0 || version === this.#versions.length - 1) return false
    this.#versions = this.#versions.slice(version, version + 1)
    this.#first += version
    return true
  }
}
