/** Returns the text of a console template: its parts and their values, including tags. */
export function shownText(template: unknown): string {
  if (Array.isArray(template)) return template.map(shownText).join('');
  if (typeof template === 'string' || typeof template === 'number') return `${template}`;
  if (typeof template !== 'object' || template === null || !('strings' in template)) return '';
  const { strings, values } = template as unknown as { strings: string[]; values: unknown[] };
  return strings.map((text, at) => `${text}${shownText(values[at])}`).join('');
}
