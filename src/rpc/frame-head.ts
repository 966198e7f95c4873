/**
 * The words of a frame; {@link FrameKind} says what they mean. They are read with a sign, because numbers beyond 2^31
 * are objects to the engine.
 */
export class FrameHead {
  kind: number
  call: number
  word = 0
  budget = 0

  constructor(kind: number, call: number) {
    this.kind = kind
    this.call = call
  }
}
