import { CommandFault, latin1Of, matches } from '../../index-service/index.ts'
import type { CommandEntry } from '../catalogue/catalogue.ts'
import { CommandRules } from './command-rules.ts'

/** A key of a command, and what the command does to it. */
export interface KeyUse {
  readonly key: Uint8Array
  readonly reads: boolean
  readonly writes: boolean
}

/** What a client wants to do. */
export interface Wish {
  readonly entry: CommandEntry
  readonly firstArgument: string | undefined
  readonly keys: readonly KeyUse[]
  readonly channels: readonly string[]
  /** Channels are patterns, which have to be allowed as such. */
  readonly arePatterns: boolean
}

/** What was refused, and what it was about. */
export interface Refused {
  readonly reason: 'command' | 'key' | 'channel' | 'auth'
  readonly object: string
}

interface KeyPattern {
  readonly pattern: string
  readonly reads: boolean
  readonly writes: boolean
}

/** One set of rules: commands, keys and channels that may be used together. */
export class Selector {
  readonly #commands: CommandRules
  #keys: readonly KeyPattern[]
  #channels: readonly string[]

  constructor(from?: Selector) {
    this.#commands = new CommandRules(from === undefined ? undefined : from.#commands)
    this.#keys = from === undefined ? [] : from.#keys
    this.#channels = from === undefined ? [] : from.#channels
  }

  get allowsAll(): boolean {
    return this.#commands.allowAll && this.#hasAllKeys && this.#hasAllChannels
  }

  get commandsText(): string {
    return this.#commands.toString()
  }

  get keysText(): string {
    return this.#keys.map(shownKey).join(' ')
  }

  get channelsText(): string {
    return this.#channels.map((channel) => `&${channel}`).join(' ')
  }

  get #hasAllKeys(): boolean {
    return this.#keys.some(({ pattern, reads, writes }) => pattern === '*' && reads && writes)
  }

  get #hasAllChannels(): boolean {
    return this.#channels.includes('*')
  }

  /** Take a rule into account; false if selectors have no such rule. @throws CommandFault */
  apply(rule: string): boolean {
    switch (rule.toLowerCase()) {
      case 'allkeys':
        this.#keys = [{ pattern: '*', reads: true, writes: true }]
        return true
      case 'resetkeys':
        this.#keys = []
        return true
      case 'allchannels':
        this.#channels = ['*']
        return true
      case 'resetchannels':
        this.#channels = []
        return true
      case 'allcommands':
      case 'nocommands':
        this.#commands.setAll(rule.toLowerCase() === 'allcommands')
        return true
      default:
        return this.#applySign(rule)
    }
  }

  #applySign(rule: string): boolean {
    const [sign, rest] = [rule[0], rule.slice(1)]
    if (sign === '+' || sign === '-') this.#commands.add(sign, rest)
    else if (sign === '~') this.#addKey({ pattern: rest, reads: true, writes: true })
    else if (sign === '%') this.#addKey(keyPatternOf(rest))
    else if (sign === '&') this.#addChannel(rest)
    else return false
    return true
  }

  /** Undefined if it may be done. */
  refuses(wish: Wish): Refused | undefined {
    const { entry, firstArgument, keys, channels, arePatterns } = wish
    if (!entry.flags.has('no_auth') && !this.#commands.allows(entry, firstArgument))
      return { reason: 'command', object: entry.name }
    const key = keys.find((use) => !this.#allowsKey(use))
    if (key !== undefined) return { reason: 'key', object: latin1Of(key.key) }
    const channel = channels.find((each) => !this.#allowsChannel(each, arePatterns))
    return channel === undefined ? undefined : { reason: 'channel', object: channel }
  }

  toString(): string {
    const channels = this.#hasAllChannels ? '&*' : ['resetchannels', this.channelsText].join(' ').trim()
    return [this.keysText, channels, this.commandsText].filter((part) => part !== '').join(' ')
  }

  #allowsKey({ key, reads, writes }: KeyUse): boolean {
    const text = latin1Of(key)
    return this.#keys.some(
      (allowed) =>
        (allowed.reads || !reads) &&
        (allowed.writes || !writes) &&
        (allowed.pattern === '*' || matches(allowed.pattern, text)),
    )
  }

  #allowsChannel(channel: string, isPattern: boolean): boolean {
    return this.#channels.some(
      (allowed) => allowed === '*' || (isPattern ? allowed === channel : matches(allowed, channel)),
    )
  }

  #addKey(key: KeyPattern): void {
    if (this.#hasAllKeys)
      throw new CommandFault(
        "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns",
      )
    if (key.pattern === '*' && key.reads && key.writes) this.#keys = [key]
    else this.#keys = [...this.#keys.filter((known) => shownKey(known) !== shownKey(key)), key]
  }

  #addChannel(channel: string): void {
    if (this.#hasAllChannels)
      throw new CommandFault(
        "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels",
      )
    if (channel === '*') this.#channels = ['*']
    else this.#channels = [...this.#channels.filter((known) => known !== channel), channel]
  }
}

/** `R~pattern`, `W~pattern` or `RW~pattern`. */
function keyPatternOf(text: string): KeyPattern {
  const [, letters, pattern] = /^([RW]{1,2})~(.*)$/is.exec(text) ?? []
  if (letters === undefined) throw new CommandFault('Syntax error')
  const upper = letters.toUpperCase()
  return { pattern: pattern!, reads: upper.includes('R'), writes: upper.includes('W') }
}

function shownKey({ pattern, reads, writes }: KeyPattern): string {
  if (reads && writes) return `~${pattern}`
  return `%${reads ? 'R' : 'W'}~${pattern}`
}
