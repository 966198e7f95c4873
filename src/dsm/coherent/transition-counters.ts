import {
  type CounterBlock,
  type CounterLayout,
  defineCounters,
  isProfiling,
  threadProfiling,
} from '../../profiling/index.ts'
import { type Protocol, protocols, type TransitionWatch } from '../coherence/index.ts'

type Side = Parameters<TransitionWatch>[0]
type Layouts = Readonly<Record<Side, CounterLayout>>

/** A counter for each cell of both tables, `<state> <event>`. */
function layoutsOf({ name, cache, directory }: Protocol): Layouts {
  return {
    cache: layoutOf(`dsm.transitions.${name}.cache`, 'copies of pages', cache.states),
    directory: layoutOf(`dsm.transitions.${name}.directory`, 'entries at the homes of pages', directory.states),
  }
}

function layoutOf(
  name: string,
  what: string,
  states: Readonly<Record<string, { readonly on: Readonly<Record<string, unknown>> }>>,
): CounterLayout {
  const cells = Object.entries(states).flatMap(([state, { on }]) => Object.keys(on).map((event) => `${state} ${event}`))
  return defineCounters(name, cells, {
    spread: 'transition',
    help: { '': `Transitions of ${what}, by state and event.` },
  })
}

/** Declared for all protocols, so that profiles read here have their help. */
const layouts: ReadonlyMap<string, Layouts> = new Map(
  [...protocols.values()].map((protocol) => [protocol.name, layoutsOf(protocol)]),
)

const watches = new Map<string, TransitionWatch>()

/** Counts the transitions of all regions of a protocol in this thread; undefined unless profiling is on. */
export function countTransitions(protocol: Protocol): TransitionWatch | undefined {
  const found = layouts.get(protocol.name)
  if (!isProfiling() || found === undefined) return undefined
  let watch = watches.get(protocol.name)
  if (watch === undefined) {
    watch = watchOf(found)
    watches.set(protocol.name, watch)
  }
  return watch
}

function watchOf(each: Layouts): TransitionWatch {
  const area = threadProfiling()
  const blocks = { cache: area.counters(each.cache), directory: area.counters(each.directory) }
  const indexes = { cache: indexOf(blocks.cache), directory: indexOf(blocks.directory) }
  return (side, state, event) => {
    const index = indexes[side].get(state)?.get(event)
    if (index === undefined) return
    const { slots } = blocks[side]
    slots[index] = slots[index]! + 1
  }
}

/** Two look-ups instead of a text made for each transition. */
function indexOf({ layout }: CounterBlock): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const index = new Map<string, Map<string, number>>()
  for (const [slot, cell] of layout.counters.entries()) {
    const [state, event] = cell.split(' ') as [string, string]
    let events = index.get(state)
    if (events === undefined) {
      events = new Map()
      index.set(state, events)
    }
    events.set(event, slot)
  }
  return index
}
