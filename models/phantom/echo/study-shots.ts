import type { ImageHeader } from '../dicom.ts';
import type { PhantomFrame } from '../frame.ts';
import type { Heart } from '../heart/heart.ts';
import type { Random } from '../random.ts';
import type { EchoCase } from './cases.ts';
import { type ColourRequest, colourHeader, simulateColour } from './colour.ts';
import { type EchoMModeId, mModeHeader, simulateEchoMMode } from './m-mode.ts';
import { type EchoSpectrumId, simulateEchoSpectrum, spectrumHeader } from './spectrum.ts';
import { type EchoRequest, type EchoViewId, FRAME_TIME_MS } from './view.ts';
import { ECHO_VIEWS } from './views.ts';

/** One image or cine before it is written to a file, without the patient's attributes. */
export interface Taken {
  name: string;
  frames: PhantomFrame[];
  header: Partial<ImageHeader>;
}

const CINES: readonly EchoViewId[] = [
  'PLAX',
  'PSAX-AV',
  'PSAX-MV',
  'PSAX-PM',
  'PSAX-AP',
  'A4C',
  'A2C',
  'A3C',
  'A5C',
  'SUBCOSTAL-4C',
];

/** Number of frames and frame time of a vena cava clip: 3.6 s, a little more than one breath. */
const CAVA = { frames: 36, frameTimeMs: 100 } as const;

/** Colour Doppler over a valve that does not leak. */
const CLOSED = [{ view: 'PLAX', valve: 'aortic' }] as const;

const USUAL_SPECTRA: readonly EchoSpectrumId[] = [
  'mitral-inflow',
  'septal-annulus',
  'lateral-annulus',
  'tricuspid-annulus',
  'lvot',
  'aortic-valve',
  'rvot',
  'pulmonary-vein',
];

const M_MODES: readonly EchoMModeId[] = ['m-mode-lv', 'm-mode-tapse', 'm-mode-ivc'];

function takeView(id: EchoViewId, request: EchoRequest): Taken {
  const view = ECHO_VIEWS[id];
  const header = view.header(request);
  const attributes = { ...header.attributes, ImageType: ['ORIGINAL', 'PRIMARY', 'TTE', '0001'] };
  return {
    name: id.toLowerCase(),
    frames: view.simulate(request),
    header: { ...header, attributes },
  };
}

/** Yields every image of a study in protocol order, one at a time because cines are large. */
export function* takeStudy(
  heart: Heart,
  { flows, jets = [] }: EchoCase,
  { beats, random }: { beats: number; random: Random },
): Generator<Taken> {
  const seedOf = (name: string) => random.fork(name).integer(0, 0x7fffffff);
  const frames = Math.ceil((beats * 1000 * heart.beat.lengthS) / FRAME_TIME_MS) + 1;
  for (const id of CINES) {
    yield takeView(id, { heart, seed: seedOf(id), frames, masks: false });
  }
  yield takeView('SUBCOSTAL-IVC', { heart, seed: seedOf('cava'), masks: false, ...CAVA });
  yield takeView('SUPRASTERNAL', { heart, seed: seedOf('arch'), frames: 8, masks: false });
  for (const { view, ...jet } of [...CLOSED, ...jets]) {
    const request: ColourRequest = {
      heart,
      seed: seedOf(`colour ${view} ${jet.valve}`),
      frames,
      view,
      valve: jet.valve,
      ...('lengthMm' in jet ? { jet } : {}),
    };
    const taken = simulateColour(request);
    const name = `${view.toLowerCase()}-colour-${jet.valve}`;
    yield { name, frames: taken, header: colourHeader(request, taken) };
  }
  const spectra = new Set([...USUAL_SPECTRA, ...(Object.keys(flows) as EchoSpectrumId[])]);
  for (const id of spectra) {
    const flow = flows[id];
    const frame = simulateEchoSpectrum(id, { heart, seed: seedOf(id), ...(flow ? { flow } : {}) });
    yield { name: id, frames: [frame], header: spectrumHeader(id, frame) };
  }
  for (const id of M_MODES) {
    const frame = simulateEchoMMode(id, { heart, seed: seedOf(id) });
    yield { name: id, frames: [frame], header: mModeHeader(id, frame, heart) };
  }
}
