import type { ConceptKey } from '../../concepts/concepts.ts';
import { median } from '../../measure/statistics.ts';
import type { Measurement } from '../../result/envelope.ts';
import { NO_FRAME } from '../../result/render/number-text.ts';

/** The median of the accepted values under the plain id; a single one takes that id itself. */
export function withMedian(key: ConceptKey, single: readonly Measurement[]): Measurement[] {
  const accepted = single.filter(({ quality }) => quality === 'accepted');
  const [first] = accepted;
  if (!first) return [...single];
  if (accepted.length === 1) {
    return single.map((one) => (one === first ? { ...one, id: key } : one));
  }
  const combined: Measurement = {
    ...first,
    id: key,
    value: median(accepted.map(({ value }) => value)),
    derivation: 'median',
    source: NO_FRAME,
    confidence: median(accepted.map(({ confidence }) => confidence ?? 0)),
    inputs: accepted.map(({ id }) => id),
  };
  return [...single, combined];
}
