/**
 * A complete 20-week study: `node test/bench/obstetric.ts [rounds]`. Compares the whole request in
 * a warm child process (reading, inference, interpretation, PDF, SR, previews, FHIR bundle) with
 * the part of its cost that cannot be avoided: decoding every frame once and running as many images
 * through the same networks. The two measurements alternate, each in a separate process. Prints a
 * table and writes nothing else.
 */
import { fileURLToPath } from 'node:url';
import { simulateObstetricStudy } from '../../models/phantom/study.ts';
import { frameBatches } from '../../pipelines/input/decode-frames.ts';
import { pipeline, prepare } from '../../src/app/pipelines/obstetric.ts';
import { measureRequest } from './request-cost.ts';

const GA_DAYS = 140;
const SEED = 5;
const ROUNDS = Number(process.argv[2] ?? 3);

await measureRequest(
  {
    program: fileURLToPath(import.meta.url),
    pipeline,
    prepare,
    job: {
      endpoint: 'us/obstetric/interpret',
      options: { dating: { ga_days: GA_DAYS }, report: true },
      clinicalContext: {},
      models: { allow: 'all', provider: 'cpu', threads: 1 },
    },
    async files() {
      const { files } = await simulateObstetricStudy({
        seed: SEED,
        gaDays: GA_DAYS,
        contents: 'complete',
      });
      return files;
    },
    decoded: async (study) => frameBatches(study.clips),
  },
  ROUNDS,
);
