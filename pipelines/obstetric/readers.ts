import type { ReadingsOf } from '../run/readers.ts';
import { amnioticFluidReader } from './amniotic-fluid/read.ts';
import { fetalBrainReader } from './anomaly-screen/read.ts';
import { cervixReader } from './cervix/read.ts';
import { spectraReader } from './doppler/read.ts';
import { earlyPregnancyReader } from './early-pregnancy/read.ts';
import { fetalHeartReader } from './fetal-heart/read.ts';
import { laborProgressReader } from './labor-progress/read.ts';
import { nuchalReader } from './nt/read.ts';
import { placentaReader } from './placenta/read.ts';
import { presentationReader } from './presentation/read.ts';
import type { Reader } from './shared/reader.ts';

/**
 * All readers. Sections look up the readings by these keys. To add a reader, add one line here. The
 * readers start in this order and run concurrently; `presentation` is first because it takes the
 * longest.
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

export type Readings = ReadingsOf<typeof READERS>;
