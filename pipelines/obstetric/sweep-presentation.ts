import type { SweepReading } from './read/presentation.ts';
import type { FetalPart } from './sweep-runs.ts';

export type Presentation = 'cephalic' | 'breech';

/** What one sweep shows; `presentation` is that of the fetus nearest the cervix. */
export interface SweptPresentation {
  fetuses: number;
  presentation: Presentation | null;
}

/** Parts from the cervix upwards, whichever way the sweep went; what follows its like is the same. */
function fromCervix({ runs, direction }: SweepReading): FetalPart[] {
  const parts = runs.map(({ part }) => part);
  const upwards = direction === 'to-caudal' ? parts.toReversed() : parts;
  return upwards.filter((part, index) => part !== upwards[index - 1]);
}

/**
 * What one sweep of known direction shows: whether the part nearest the cervix is a head with the
 * trunk above it, or the reverse, and how many fetuses follow each other: one has one head and one
 * trunk. Without a head nothing is counted.
 */
export function readPresentation(sweep: SweepReading): SweptPresentation {
  const parts = fromCervix(sweep);
  const heads = parts.filter((part) => part === 'head').length;
  const trunks = parts.length - heads;
  return {
    fetuses: heads === 0 ? 0 : Math.max(heads, trunks),
    presentation: heads === 0 || trunks === 0 ? null : parts[0] === 'head' ? 'cephalic' : 'breech',
  };
}

/** The presentation on which the sweeps agree. */
export function agreedPresentation(reads: readonly SweptPresentation[]): {
  presentation: Presentation | null;
  contradicts: boolean;
} {
  const found = new Set(reads.flatMap(({ presentation }) => presentation ?? []));
  const [only] = found;
  return { presentation: found.size === 1 && only ? only : null, contradicts: found.size > 1 };
}
