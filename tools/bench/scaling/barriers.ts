import { BarrierMachine, BarrierWord, newBarrierWords } from 'aether-dsm/internal/cluster'
import { RoundCarrier } from './carrier.ts'

/** What one barrier of `ranks` costs: messages, one after the other, and in all. */
export function barrierCost(ranks: number): { readonly rounds: number; readonly messages: number } {
  const words = Array.from({ length: ranks }, () => new Int32Array(newBarrierWords(ranks)))
  const carrier = new RoundCarrier<Uint8Array>((to, from, bytes) => machines[to]!.receive(from, bytes))
  const machines = words.map((own, rank) => {
    const send = (to: number, bytes: Uint8Array): void => carrier.send(rank, to, bytes)
    return new BarrierMachine({ rank, size: ranks, words: own, send })
  })
  for (const [rank, machine] of machines.entries()) {
    Atomics.store(words[rank]!, BarrierWord.Entered, 1)
    machine.turn()
  }
  carrier.settle()
  if (machines.some(({ passed }) => passed !== 1)) throw new Error(`the barrier of ${ranks} ranks did not end`)
  return { rounds: carrier.rounds, messages: carrier.messages }
}
