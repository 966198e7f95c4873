/** Insert an item. For short arrays this is faster than `splice`, which also makes an array of what it took out. */
export function insertAt<Item>(items: Item[], index: number, item: Item): void {
  items.push(item)
  for (let at = items.length - 1; at > index; at -= 1) items[at] = items[at - 1]!
  items[index] = item
}

/** Take an item out. */
export function removeAt<Item>(items: Item[], index: number): void {
  for (let at = index + 1; at < items.length; at += 1) items[at - 1] = items[at]!
  items.pop()
}
