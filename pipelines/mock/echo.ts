import type { EchoConcept } from '../concepts/echo.ts';
import type { Job } from '../contract/job.ts';
import type { Study } from '../contract/study.ts';
import { gatherEvidence } from '../echo/evidence.ts';
import { parseRequest } from '../echo/input.ts';
import { interpretStudy } from '../echo/interpret-study.ts';
import type { HeartView } from '../echo/locate/names.ts';
import type { ClipView } from '../echo/locate/reader.ts';
import { SECTIONS } from '../echo/sections.ts';
import type { Result } from '../result/envelope.ts';
import { apicalClips, BEAT, BEAT_FRAMES } from './heart.ts';
import { machineReport } from './machine-report.ts';
import { AREA, mockClip } from './picture.ts';
import type { Seed } from './seed.ts';

const VIEWS = [
  'PLAX',
  'PSAX-PM',
  'A4C',
  'A2C',
  'A3C',
  'SUBCOSTAL-IVC',
] as const satisfies readonly HeartView[];

/** Typical machine-reported values for the quantities whose sections are not drawn. */
const REPORTED = {
  ivsd: 0.92,
  lvidd: 4.7,
  lvids: 3.1,
  lvpwd: 0.9,
  'la-diameter': 3.5,
  'mitral-e': 78,
  'mitral-a': 62,
  'deceleration-time': 190,
  'e-prime-septal': 9.4,
  'e-prime-lateral': 12.1,
  'av-vmax': 1.3,
  'av-mean-gradient': 4,
  'av-vti': 27,
  'lvot-diameter': 2.05,
  'lvot-vti': 21,
  'tr-vmax': 2.25,
  'ivc-diameter': 16,
  'ivc-collapse': 60,
  'ra-area': 14,
  tapse: 23,
  'rv-s-prime': 13,
  'rv-fac': 44,
  'rv-basal': 33,
  'wall-motion-score-index': 1,
  'effusion-depth': 0,
  'lvot-gradient-rest': 5,
} as const satisfies Partial<Record<EchoConcept, number>>;

/** Returns the clips with their views, as if a view survey had been run. No image is read. */
function viewsOf(file: string): ClipView[] {
  return VIEWS.map((view) => ({
    clip: mockClip(`${file}/${view}`, BEAT_FRAMES, BEAT.perFrame),
    view,
    source: 'model',
    confidence: 0.93,
    belowGate: null,
    unseparated: false,
    underStress: false,
    fan: AREA,
  }));
}

/**
 * Runs the real sections on made-up readings, so that the envelope is the same as for a live
 * request.
 */
export function mockEcho(
  job: Job,
  seed: Seed,
  generatedAt: Date,
): { result: Result; study: Study } {
  const { options, context } = parseRequest(job.options, job.clinicalContext);
  const [file = 'mock'] = job.files;
  const clips = viewsOf(file);
  const study: Study = {
    clips: clips.map(({ clip }) => clip),
    refused: [],
    files: job.files.length,
    series: 1,
    cart: machineReport(file, REPORTED, seed),
  };
  const apical = apicalClips(
    clips.flatMap(({ view, clip }) => (view ? [{ view, clip }] : [])),
    seed,
  );
  const evidence = gatherEvidence(
    {
      study,
      context,
      spectra: [],
      clips,
      views: { apical: { clips: apical, volumesTrusted: true }, parasternal: { clips: [] } },
      priors: job.priorFiles,
      accept: 'simulated',
      models: [],
    },
    SECTIONS,
  );
  return { result: interpretStudy(evidence, options, generatedAt, [], 'simulated'), study };
}
