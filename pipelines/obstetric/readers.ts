import type { ReadingsOf } from '../run-readers.ts';
import { amnioticFluidReader } from './read/amniotic-fluid.ts';
import { cervixReader } from './read/cervix.ts';
import { earlyPregnancyReader } from './read/early-pregnancy.ts';
import { fetalBrainReader } from './read/fetal-brain.ts';
import { fetalHeartReader } from './read/fetal-heart.ts';
import { laborProgressReader } from './read/labor-progress.ts';
import { nuchalReader } from './read/nuchal.ts';
import { placentaReader } from './read/placenta.ts';
import { presentationReader } from './read/presentation.ts';
import { spectraReader } from './read/spectra.ts';
import type { Reader } from './reader.ts';

/**
 * Every reader by the name under which sections find what it read. A new one is one line here. They
 * begin in this order: sweeps take longest, so that the others run beside them and not before.
 */
export const READERS = {
  presentation: presentationReader,
  amnioticFluid: amnioticFluidReader,
  placenta: placentaReader,
  cervix: cervixReader,
  earlyPregnancy: earlyPregnancyReader,
  laborProgress: laborProgressReader,
  nuchal: nuchalReader,
  spectra: spectraReader,
  fetalHeart: fetalHeartReader,
  fetalBrain: fetalBrainReader,
} as const satisfies Record<string, Reader<unknown>>;

export type ReaderName = keyof typeof READERS;

export type Readings = ReadingsOf<typeof READERS>;
