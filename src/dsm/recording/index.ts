/**
 * What happens to a node, written down as it happens and run again later.
 *
 * With `AETHER_RECORD=DIR` every agent writes a file a region. It holds what the node remembered at first, then each
 * input with the answers that the world gave to its questions. {@link Replay} runs the file through the very same code.
 * It holds states and messages, never bytes of pages, nor keys.
 *
 * @module
 */
export { RecordedNode } from './recorded-node.ts'
export { RECORD_VARIABLE, Recorder } from './recorder.ts'
export { readRecording } from './recording.ts'
export { Replay, type ReplayedStep } from './replay.ts'
export { describeMessage, describeSaid } from './said.ts'
export { messageOf, type RecordedMessage, type RecordedStep } from './step.ts'
