import { ClosedError } from '../../native/index.ts'
import { type Block, newResult } from '../blocks/block.ts'
import { sameShape } from '../blocks/layout.ts'
import { runBlocking, type Steps } from '../exchange/steps.ts'
import type { Step } from '../kernels/program.ts'
import { runProgram } from '../kernels/run-program.ts'
import type { ArrayNode, Capture, Constant, Pending } from './node.ts'

/** The elements of an array. If they are pending, exactly what they need is computed. */
export function demand(node: ArrayNode): Block {
  const { block, pending } = node
  if (block !== undefined) return block
  if (pending === undefined) throw new ClosedError('the array')
  if (pending.kind === 'step') runChain(node)
  else if (pending.kind === 'view') node.settle(pending.view(demand(pending.base)), pending.base.storage!)
  else if (pending.kind === 'call') node.settle(pending.compute(pending.operands.map(captured)))
  else runBlocking(settleExchange(node, pending))
  return node.block!
}

/** All that other ranks take part in, of what leads to an array. To demand it is then this rank's business alone. */
export function* exchangeFor(node: ArrayNode, seen: Set<ArrayNode> = new Set()): Steps<void> {
  const { pending } = node
  if (pending === undefined || seen.has(node)) return
  seen.add(node)
  if (pending.kind === 'view') yield* exchangeFor(pending.base, seen)
  else for (const operand of pending.operands) if ('node' in operand) yield* exchangeFor(operand.node, seen)
  if (pending.kind === 'exchange') yield* settleExchange(node, pending)
}

function* settleExchange(
  node: ArrayNode,
  { steps, operands, isReadOnly }: Pending & { kind: 'exchange' },
): Steps<void> {
  node.settle(yield* steps(operands.map(captured)))
  if (isReadOnly) node.storage?.protect()
}

/** The elements of an operand, as they were when it was captured. */
function captured({ node, epoch }: Capture): Block {
  const block = demand(node)
  return epoch.copy === undefined ? block : { ...block, data: epoch.copy }
}

/**
 * Computes all steps that lead to the node in one program. What has another shape is computed before, and what several
 * arrays are made of is kept, so that no part is computed twice.
 */
function runChain(root: ArrayNode): void {
  const shape = root.localShape
  const { inputs, constants, nodes, steps } = new Chain(root, shape)
  const firstStep = inputs.length + constants.length
  const outputs: { readonly register: number; readonly block: Block }[] = []
  for (let index = 0; index < nodes.length; index += 1) {
    const node = nodes[index]!
    if (node === root || node.uses > 1)
      outputs.push({ register: firstStep + index, block: newResult(node.dtype, shape) })
  }
  runProgram({ shape, inputs, constants, steps, outputs })
  for (const node of nodes) node.uses += 1
  for (const { register, block } of outputs) nodes[register - firstStep]!.settle(block)
}

/** Until all inputs and constants are known, the registers of constants and steps are numbered from here on. */
const CONSTANTS = 2 ** 20
const STEPS = 2 ** 21

/** The parts of a program that computes a node: each input, constant and step once. There are few. */
class Chain {
  readonly inputs: Block[] = []
  readonly constants: Constant[] = []
  readonly nodes: ArrayNode[] = []
  readonly steps: (Step & { readonly operands: number[] })[] = []
  readonly #shape: readonly number[]

  constructor(root: ArrayNode, shape: readonly number[]) {
    this.#shape = shape
    this.#visit(root)
    const constants = this.inputs.length
    const steps = constants + this.constants.length
    for (const { operands } of this.steps) {
      for (let index = 0; index < operands.length; index += 1) {
        const register = operands[index]!
        if (register >= STEPS) operands[index] = register - STEPS + steps
        else if (register >= CONSTANTS) operands[index] = register - CONSTANTS + constants
      }
    }
  }

  /** The register of a step, after those that it needs. */
  #visit(node: ArrayNode): number {
    const known = this.nodes.indexOf(node)
    if (known >= 0) return STEPS + known
    const { pending } = node
    if (pending?.kind !== 'step') throw new TypeError('an array in a program is not a step')
    const operands = pending.operands.map((operand) => this.#registerOf(operand))
    this.steps.push({ operation: pending.operation, from: pending.from, to: node.dtype, operands })
    return STEPS + this.nodes.push(node) - 1
  }

  #registerOf(operand: Capture | Constant): number {
    if (!('node' in operand)) return CONSTANTS + placeIn(this.constants, operand)
    const { node } = operand
    const isStep = node.pending?.kind === 'step' && sameShape(node.localShape, this.#shape)
    return isStep ? this.#visit(node) : placeIn(this.inputs, captured(operand))
  }
}

/** Where a thing is in a list, at whose end it is put if it is not there. */
function placeIn<Thing>(list: Thing[], thing: Thing): number {
  const known = list.indexOf(thing)
  return known < 0 ? list.push(thing) - 1 : known
}
