import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { RequestFlag } from '../opcode.ts'

const NOTHING = new Uint8Array(0)

/**
 * Copy what was posted into `slot`, because the caller may patch its request. Inline bytes belong to the caller again
 * after the post.
 */
export function captureRequest(slot: EncodedRequest, request: EncodedRequest, maxInlineBytes: number): void {
  slot.copyFrom(request)
  slot.view = undefined
  slot.viewOwner = undefined
  if ((request.words[RequestSlot.Flags]! & RequestFlag.Inline) !== 0) captureInline(slot, request, maxInlineBytes)
}

function captureInline(slot: EncodedRequest, request: EncodedRequest, maxInlineBytes: number): void {
  const bytes = new Uint8Array(maxInlineBytes)
  let offset = 0
  for (let index = 0; index < request.words[RequestSlot.SegmentCount]!; index += 1) {
    const source = request.sources[index] ?? NOTHING
    bytes.set(source, offset)
    slot.sources[index] = bytes.subarray(offset, offset + source.length)
    slot.setSegment(index, 0, source.length, 0)
    offset += source.length
  }
}
