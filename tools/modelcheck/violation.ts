/** Something that must never be so. The message says which invariant, and where. */
export class Violation extends Error {
  override readonly name = 'Violation'
}
