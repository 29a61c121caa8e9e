/** Returns the text of a console template: its parts and their values, including tags. */
export function shownText(template: unknown): string {
  if (Array.isArray(template)) return template.map(shownText).join('');
  if (typeof template === 'string' || typeof template === 'number') return `${template}`;
  if (typeof template !== 'object' || template === null) return '';
  if (!('strings' in template)) return shownText(repeated(template));
  const { strings, values } = template as unknown as { strings: string[]; values: unknown[] };
  return strings.map((text, at) => `${text}${shownText(values[at])}`).join('');
}

/** Returns the templates of a list that `repeat` renders; nothing for another value. */
export function repeated(value: object): unknown[] {
  const { values = [] } = value as { values?: unknown[] };
  const [items, , view] = values;
  return Array.isArray(items) && typeof view === 'function' ? items.map(view as never) : [];
}
