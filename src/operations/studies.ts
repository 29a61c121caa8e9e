import type { Config } from '../../config/schema.ts';
import type { ReceivedObjects } from '../core/files/received-objects.ts';
import type { Endpoint } from '../core/requests/endpoint.ts';
import type { RegistrationOptions } from '../core/studies/arrival.ts';
import {
  completeNow,
  dryRun,
  holdStudy,
  releaseStudy,
  rerunStudy,
} from '../core/studies/commands.ts';
import { explainStudy } from '../core/studies/explain.ts';
import { quarantinedObjects, removeQuarantinedObject } from '../core/studies/quarantine.ts';
import { registerQuarantined } from '../core/studies/recover-intake.ts';
import {
  keptInWords,
  type RetentionParts,
  removeOldStudies,
  removeStudy,
} from '../core/studies/retention.ts';
import { requireUsableRules } from '../core/studies/rules/check-rules.ts';
import { judgeFile } from '../core/studies/rules/judge-file.ts';
import type { RulesSource } from '../core/studies/rules/rules-source.ts';
import { listStudies } from '../core/studies/study-store.ts';
import type { Database } from '../platform/database/port.ts';
import { SonogateError } from '../platform/errors/catalogue.ts';
import type {
  QuarantineOperations,
  RetentionOperations,
  RuleOperations,
  StudyOperations,
} from './operations.ts';

interface StudyParts {
  database: Database;
  objects: ReceivedObjects;
  rules: RulesSource;
}

export function createStudyOperations({ database, objects, rules }: StudyParts): StudyOperations {
  const now = () => ({ routing: rules.current(), at: new Date() });
  return {
    list: (filter) => listStudies(database, filter),
    explain: (study) => explainStudy(database, study, { ...now(), objects }),
    complete: (study) => completeNow(database, study, new Date()),
    hold: (study, reason) => holdStudy(database, study, reason),
    release: (study, how) => releaseStudy(database, study, how, now()),
    rerun: (study) => rerunStudy(database, study, new Date()),
  };
}

const ANY_AE_TITLE = '*';

export function createRuleOperations({
  database,
  objects,
  rules,
  config,
  endpoints,
}: StudyParts & {
  config: Pick<Config, 'sources' | 'dicom'>;
  endpoints: readonly Endpoint[];
}): RuleOperations {
  return {
    current: () => rules.current(),
    check: (routing) => requireUsableRules(routing, endpoints),
    dryRun: (routing, last) =>
      dryRun(database, { routing: routing ?? rules.current(), at: new Date(), objects, last }),
    judgeFile(routing, file, source) {
      const known = config.sources.find(({ name }) => name === source);
      const aeTitle = known?.callingAeTitles.find((one) => one !== ANY_AE_TITLE) ?? '';
      const by = {
        source,
        callingAeTitle: aeTitle,
        calledAeTitle: config.dicom.aeTitle,
      };
      return judgeFile(file, by, { routing, at: new Date() });
    },
    canSave: () => rules.save !== null,
    async save(yaml, record) {
      if (rules.save) return rules.save(yaml, new Date(), record);
      throw new SonogateError('forbidden', 'The gateway is running without a settings file.');
    },
  };
}

/** Creates the operations on this host's quarantine; each host has its own. */
export function createQuarantineOperations(parts: RegistrationOptions): QuarantineOperations {
  return {
    list: () => quarantinedObjects(parts.dataDir),
    register: (id, record) => registerQuarantined(id, parts, record),
    remove: (id, record) => removeQuarantinedObject(parts.dataDir, id, record),
  };
}

export function createRetentionOperations(parts: RetentionParts): RetentionOperations {
  return {
    remove: (study, record) => removeStudy(parts, study, record),
    async clean(isDryRun) {
      const { kept, unfinished: _later, ...removal } = await removeOldStudies(parts, isDryRun);
      return { ...removal, kept: keptInWords(kept) };
    },
  };
}
