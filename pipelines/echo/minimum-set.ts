import type { SweepKind } from '../contract/study.ts';
import type { Flow } from './flows.ts';
import type { ClipView } from './reader.ts';
import type { SpectrumReading } from './spectra.ts';
import { familyOf, type HeartView, isPicture } from './view-names.ts';

interface Found {
  /** Views of the 2D pictures; colour alone shows no wall and no size. */
  views: ReadonlySet<HeartView>;
  spectra: readonly SpectrumReading[];
}

const inView =
  (...wanted: readonly HeartView[]) =>
  ({ views }: Found) =>
    wanted.some((view) => views.has(view));

/** A display of a flow; one whose kind of Doppler the header does not say counts. */
const displayed =
  (flow: Flow, kind: SweepKind) =>
  ({ spectra }: Found) =>
    spectra.some((one) => one.flow === flow && (one.kind === kind || one.kind === 'doppler'));

const hasShortAxis = ({ views }: Found) => [...views].some((view) => familyOf(view) === 'PSAX');

const hasCava = (found: Found) =>
  inView('SUBCOSTAL-IVC')(found) || found.spectra.some(({ flow }) => flow === 'vena-cava');

/** What a complete study holds at least; a convention of the project ([C], echo reference 2.9). */
const MINIMUM: readonly { name: string; isIn(found: Found): boolean }[] = [
  { name: 'PLAX', isIn: inView('PLAX') },
  { name: 'PSAX', isIn: hasShortAxis },
  { name: 'A4C', isIn: inView('A4C') },
  { name: 'A2C', isIn: inView('A2C') },
  { name: 'A3C', isIn: inView('A3C') },
  { name: 'subcostal IVC', isIn: hasCava },
  { name: 'mitral inflow PW', isIn: displayed('mitral-inflow', 'pw') },
  { name: 'septal tissue Doppler', isIn: displayed('septal-annulus', 'pw') },
  { name: 'lateral tissue Doppler', isIn: displayed('lateral-annulus', 'pw') },
  { name: 'LVOT PW', isIn: displayed('lvot', 'pw') },
  { name: 'aortic valve CW', isIn: displayed('aortic-valve', 'cw') },
  { name: 'TR CW', isIn: displayed('tricuspid-regurgitation', 'cw') },
];

/** Of the minimum set what no clip was found to show, by name; anything is a limited study. */
export function missingOfMinimum(
  clips: readonly ClipView[],
  spectra: readonly SpectrumReading[],
): string[] {
  const pictures = clips.filter(({ clip }) => isPicture(clip) && clip.mode !== 'colour');
  const found = { views: new Set(pictures.flatMap(({ view }) => view ?? [])), spectra };
  return MINIMUM.filter(({ isIn }) => !isIn(found)).map(({ name }) => name);
}
