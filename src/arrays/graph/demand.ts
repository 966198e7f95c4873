import { ClosedError } from '../../native/index.ts'
import { type Block, newResult } from '../blocks/block.ts'
import { sameShape } from '../blocks/layout.ts'
import { runBlocking, type Steps } from '../exchange/steps.ts'
import type { Program, Step } from '../kernels/program.ts'
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
export function captured({ node, epoch }: Capture): Block {
  const block = demand(node)
  return epoch.copy === undefined ? block : { ...block, data: epoch.copy }
}

/** Is an array that is a step of other's programs wanted for itself? */
function isShared({ uses }: ArrayNode): boolean {
  return uses > 1
}

/**
 * Computes all steps that lead to the node in one program. What has another shape is computed before, and what several
 * arrays are made of is kept, so that no part is computed twice.
 */
function runChain(root: ArrayNode): void {
  const shape = root.localShape
  const inputs = new Places<Block>()
  const constants = new Places<Constant>()
  const nodes = new Places<ArrayNode>()
  const operandsOf: Reference[][] = []

  const refer = (operand: Capture | Constant): Reference => {
    if (!('node' in operand)) return { list: 'constants', index: constants.place(operand) }
    const { node } = operand
    const isStep = node.pending?.kind === 'step' && sameShape(node.localShape, shape)
    return isStep ? visit(node) : { list: 'inputs', index: inputs.place(captured(operand)) }
  }
  const visit = (node: ArrayNode): Reference => {
    const known = nodes.find(node)
    if (known !== undefined) return { list: 'steps', index: known }
    const { pending } = node
    const operands = pending?.kind === 'step' ? pending.operands.map(refer) : []
    const index = nodes.place(node)
    operandsOf[index] = operands
    return { list: 'steps', index }
  }
  visit(root)

  const starts = { inputs: 0, constants: inputs.all.length, steps: inputs.all.length + constants.all.length }
  const kept = nodes.all.filter((node) => node === root || isShared(node))
  const outputs = kept.map((node) => ({
    register: starts.steps + nodes.find(node)!,
    block: newResult(node.dtype, shape),
  }))
  const steps = nodes.all.map((node, index) =>
    stepOf(
      node,
      operandsOf[index]!.map(({ list, index: at }) => starts[list] + at),
    ),
  )
  const program: Program = { shape, inputs: inputs.all, constants: constants.all, steps, outputs }
  runProgram(program)
  for (const node of nodes.all) node.uses += 1
  kept.forEach((node, index) => {
    node.settle((outputs[index] as { block: Block }).block)
  })
}

interface Reference {
  readonly list: 'inputs' | 'constants' | 'steps'
  readonly index: number
}

function stepOf(node: ArrayNode, operands: readonly number[]): Step {
  const pending = node.pending
  if (pending?.kind !== 'step') throw new TypeError('an array in a program is not a step')
  return { operation: pending.operation, from: pending.from, to: node.dtype, operands }
}

/** Things in a list, each once. Most programs have few, among which a search is faster than a table. */
class Places<Thing> {
  readonly all: Thing[] = []
  #places: Map<Thing, number> | undefined

  find(thing: Thing): number | undefined {
    if (this.#places !== undefined) return this.#places.get(thing)
    const place = this.all.indexOf(thing)
    return place < 0 ? undefined : place
  }

  place(thing: Thing): number {
    const known = this.find(thing)
    if (known !== undefined) return known
    const place = this.all.push(thing) - 1
    if (place === FEW) this.#places = new Map(this.all.map((one, index) => [one, index]))
    else this.#places?.set(thing, place)
    return place
  }
}

const FEW = 16
