/** Is told of keys of a shard before they change, for it may want what is there. */
export interface ChangeWatch {
  /** A key is about to be changed or removed. `record`: its own, a view. */
  changing(space: number, key: Uint8Array, record: Uint8Array): void
  /** The collection of a key may be changed from here on, until the next command. */
  opening(space: number, key: Uint8Array, record: Uint8Array): void
  /** The value of a field is about to be replaced or removed. */
  changingField(space: number, key: Uint8Array, field: Uint8Array): void
  /** All keys are about to be removed. */
  clearing(): void
}

/** Where the keys of a shard find the one that watches them, if any does. */
export class Watching {
  by: ChangeWatch | undefined
}
