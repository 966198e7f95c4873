import { createHash, timingSafeEqual } from 'node:crypto'
import { CommandFault } from '../../index-service/index.ts'
import { type Refused, Selector, type Wish } from './selector.ts'

/** What a refusal is about, from the least to the most that was allowed before it. */
const reasons: readonly Refused['reason'][] = ['command', 'key', 'channel']

/** A user: its passwords, and what it may do. */
export class DoorUser {
  readonly name: string
  #isEnabled = false
  #needsNoPassword = false
  #passwords: ReadonlySet<string> = new Set<string>()
  /** A flag that Redis has for RESTORE, which changes nothing here. Redis shows it once it was set, or by `reset`. */
  #sanitizing: readonly string[] = []
  #root = new Selector()
  #selectors: readonly Selector[] = []
  /** It may do all there is, so nothing has to be looked at. */
  mayAll = false

  constructor(name: string) {
    this.name = name
  }

  get isEnabled(): boolean {
    return this.#isEnabled
  }

  get needsNoPassword(): boolean {
    return this.#needsNoPassword
  }

  get passwords(): ReadonlySet<string> {
    return this.#passwords
  }

  get root(): Selector {
    return this.#root
  }

  /** Besides the first one. */
  get selectors(): readonly Selector[] {
    return this.#selectors
  }

  get flags(): readonly string[] {
    return [this.#isEnabled ? 'on' : 'off', ...(this.#needsNoPassword ? ['nopass'] : []), ...this.#sanitizing]
  }

  isPassword(password: string): boolean {
    return this.#needsNoPassword || hasPassword(this.#passwords, password)
  }

  /** All rules, or none if one is wrong. @throws CommandFault */
  change(rules: readonly string[]): void {
    const changed = this.#copy()
    for (const rule of joined(rules)) changed.#applyNamed(rule)
    this.#become(changed)
  }

  /** Undefined if one of its selectors allows it. */
  refuses(wish: Wish): Refused | undefined {
    let nearest: Refused | undefined
    for (const selector of [this.#root, ...this.#selectors]) {
      const refused = selector.refuses(wish)
      if (refused === undefined) return undefined
      if (nearest === undefined || reasons.indexOf(refused.reason) > reasons.indexOf(nearest.reason)) nearest = refused
    }
    return nearest
  }

  /** As ACL LIST has it. */
  toString(): string {
    const passwords = [...this.#passwords].map((hash) => `#${hash}`)
    const selectors = this.#selectors.map((selector) => `(${selector})`)
    return ['user', this.name, ...this.flags, ...passwords, this.#root, ...selectors].join(' ')
  }

  #applyNamed(rule: string): void {
    try {
      this.#apply(rule)
    } catch (error) {
      if (!(error instanceof CommandFault)) throw error
      throw new CommandFault(`Error in ACL SETUSER modifier '${rule}': ${error.message}`)
    }
  }

  #apply(rule: string): void {
    if (this.#applyWord(rule.toLowerCase())) return
    const rest = rule.slice(1)
    if (rule.startsWith('>') || rule.startsWith('#'))
      this.#addPassword(rule[0] === '>' ? hashOf(rest) : checkedHash(rest))
    else if (rule.startsWith('<') || rule.startsWith('!'))
      this.#removePassword(rule[0] === '<' ? hashOf(rest) : checkedHash(rest))
    else if (rule.startsWith('(')) this.#selectors = [...this.#selectors, selectorOf(rule)]
    else if (!this.#root.apply(rule)) throw new CommandFault('Syntax error')
  }

  #applyWord(word: string): boolean {
    switch (word) {
      case 'on':
      case 'off':
        this.#isEnabled = word === 'on'
        return true
      case 'nopass':
      case 'resetpass':
        this.#needsNoPassword = word === 'nopass'
        this.#passwords = new Set()
        return true
      case 'sanitize-payload':
      case 'skip-sanitize-payload':
        this.#sanitizing = [word]
        return true
      case 'clearselectors':
        this.#selectors = []
        return true
      case 'reset':
        this.#become(new DoorUser(this.name))
        this.#sanitizing = ['sanitize-payload']
        return true
      default:
        return false
    }
  }

  #addPassword(hash: string): void {
    this.#passwords = new Set([...this.#passwords, hash])
    this.#needsNoPassword = false
  }

  #removePassword(hash: string): void {
    if (!this.#passwords.has(hash))
      throw new CommandFault('The password you are trying to remove from the user does not exist')
    this.#passwords = new Set([...this.#passwords].filter((known) => known !== hash))
  }

  #copy(): DoorUser {
    const copy = new DoorUser(this.name)
    copy.#become(this)
    return copy
  }

  #become(other: DoorUser): void {
    this.#isEnabled = other.#isEnabled
    this.#needsNoPassword = other.#needsNoPassword
    this.#passwords = other.#passwords
    this.#sanitizing = other.#sanitizing
    this.#root = new Selector(other.#root)
    this.#selectors = other.#selectors
    this.mayAll = this.#root.allowsAll
  }
}

/** A selector stands in parentheses, and may be several arguments. */
function joined(rules: readonly string[]): string[] {
  const whole: string[] = []
  for (const rule of rules) {
    const open = whole.at(-1)
    if (open?.startsWith('(') === true && !open.endsWith(')')) whole[whole.length - 1] = `${open} ${rule}`
    else whole.push(rule)
  }
  const last = whole.at(-1)
  if (last?.startsWith('(') === true && !last.endsWith(')'))
    throw new CommandFault(`Unmatched parenthesis in acl selector starting at '${last}'.`)
  return whole
}

function selectorOf(rule: string): Selector {
  const selector = new Selector()
  for (const part of rule.slice(1, -1).split(' '))
    if (part !== '' && !selector.apply(part)) throw new CommandFault('Syntax error')
  return selector
}

function checkedHash(hash: string): string {
  if (/^[0-9a-f]{64}$/.test(hash)) return hash
  throw new CommandFault(
    'The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters',
  )
}

/** A password as users keep it: SHA-256, in hexadecimal. Text is latin1. */
function hashOf(password: string): string {
  return createHash('sha256').update(Buffer.from(password, 'latin1')).digest('hex')
}

/** It takes as long whether they are equal or not, and wherever they differ. */
function hasPassword(hashes: ReadonlySet<string>, password: string): boolean {
  const given = Buffer.from(hashOf(password))
  let isOne = false
  for (const hash of hashes) if (timingSafeEqual(Buffer.from(hash), given)) isOne = true
  return isOne
}
