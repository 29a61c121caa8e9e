/** No body of the contract nests half as deep. */
const DEEPEST = 64;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;

/**
 * What is wrong with a JSON text that `JSON.parse` accepts: a name that an object holds twice, of
 * which it would silently keep the last (RFC 8259 4, RFC 7493 2.3), or nesting that recursion over
 * it could not bear.
 * @returns null for a sound text
 */
export function unsoundShape(text: string): string | null {
  /** The names of each object around the present place; null for an array. */
  const open: (Set<string> | null)[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : null);
      if (open.length > DEEPEST) return `It nests deeper than ${DEEPEST} levels.`;
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token === ':') {
      const names = open.at(-1);
      const name: string = JSON.parse(last);
      if (names?.has(name)) return `It holds the name ${last} twice in one object.`;
      names?.add(name);
    }
    last = token;
  }
  return null;
}
