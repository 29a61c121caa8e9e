import type { Routing } from '../../config/routing.ts';
import type { Config } from '../../config/schema.ts';
import type { RecordAction } from '../core/audit/audit.ts';
import type { ReceivedObjects } from '../core/files/received-objects.ts';
import type { Endpoint } from '../core/requests/endpoint.ts';
import type { RegistrationOptions } from '../core/studies/arrival.ts';
import {
  completeNow,
  dryRun,
  holdStudy,
  releaseStudy,
  rerunStudy,
  type StudyRelease,
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
import { listStudies, type StudyState } from '../core/studies/study-store.ts';
import type { Database, Queryable } from '../platform/database/port.ts';
import { SonogateError } from '../platform/errors/catalogue.ts';

interface StudyParts {
  database: Database;
  objects: ReceivedObjects;
  rules: RulesSource;
}

export type StudyOperations = ReturnType<typeof createStudyOperations>;

/** Operations on studies. A study is identified by our own id or its Study Instance UID. */
export function createStudyOperations({ database, objects, rules }: StudyParts) {
  const now = () => ({ routing: rules.current(), at: new Date() });
  return {
    list: (filter: { state: StudyState | null; limit: number }) => listStudies(database, filter),
    explain: (study: string) => explainStudy(database, study, { ...now(), objects }),
    complete: (study: string) => completeNow(database, study, new Date()),
    hold: (study: string, reason: string) => holdStudy(database, study, reason),
    release: (study: string, how: StudyRelease) => releaseStudy(database, study, how, now()),
    rerun: (study: string) => rerunStudy(database, study, new Date()),
  };
}

const ANY_AE_TITLE = '*';

export type RuleOperations = ReturnType<typeof createRuleOperations>;

export function createRuleOperations({
  database,
  objects,
  rules,
  config,
  endpoints,
}: StudyParts & {
  config: Pick<Config, 'sources' | 'dicom'>;
  endpoints: readonly Endpoint[];
}) {
  return {
    current: () => rules.current(),
    check: (routing: Routing) => requireUsableRules(routing, endpoints),
    /** Tries the given rules, or the current ones if `routing` is null. */
    dryRun: (routing: Routing | null, last: number) =>
      dryRun(database, { routing: routing ?? rules.current(), at: new Date(), objects, last }),
    /** @param source name of the source that would send the file. */
    judgeFile(routing: Routing, file: { start: Buffer; whole: boolean }, source: string) {
      const known = config.sources.find(({ name }) => name === source);
      const aeTitle = known?.callingAeTitles.find((one) => one !== ANY_AE_TITLE) ?? '';
      const by = {
        source,
        callingAeTitle: aeTitle,
        calledAeTitle: config.dicom.aeTitle,
      };
      return judgeFile(file, by, { routing, at: new Date() });
    },
    /** Whether there is a settings file that `save` can write to. */
    canSave: () => rules.save !== null,
    /** Saves checked rules, which take effect when the settings file is read again. */
    async save(yaml: string, record: RecordAction): Promise<string> {
      if (rules.save) return rules.save(yaml, new Date(), record);
      throw new SonogateError('forbidden', 'The gateway is running without a settings file.');
    },
  };
}

export type QuarantineOperations = ReturnType<typeof createQuarantineOperations>;

/** Creates the operations on this host's quarantine; each host has its own. */
export function createQuarantineOperations(parts: RegistrationOptions) {
  return {
    list: () => quarantinedObjects(parts.dataDir),
    register: (id: string, record: RecordAction) => registerQuarantined(id, parts, record),
    remove: (id: string, record: RecordAction) =>
      removeQuarantinedObject(parts.dataDir, id, record),
  };
}

export type RetentionOperations = ReturnType<typeof createRetentionOperations>;

export function createRetentionOperations(parts: RetentionParts) {
  return {
    remove: (study: string, record: (studyId: string, tx: Queryable) => Promise<void>) =>
      removeStudy(parts, study, record),
    async clean(isDryRun: boolean) {
      const { kept, unfinished: _later, ...removal } = await removeOldStudies(parts, isDryRun);
      return { ...removal, kept: keptInWords(kept) };
    },
  };
}
