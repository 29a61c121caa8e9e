/**
 * Returns the results of `each` for every item, in the order of the items, with at most `atOnce`
 * calls at a time. After the first error, no further calls are started; the error is thrown once
 * the running calls have ended.
 */
export async function inParallel<Item, Given>(
  items: readonly Item[],
  atOnce: number,
  each: (item: Item) => Promise<Given>,
): Promise<Given[]> {
  const given: Given[] = [];
  const waiting = items.entries();
  let failed = false;
  const work = async () => {
    for (const [index, item] of waiting) {
      if (failed) return;
      try {
        given[index] = await each(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, work));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return given;
}
