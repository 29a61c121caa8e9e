import { loadConfig } from '../../config/load.ts';
import type { Config, Source } from '../../config/schema.ts';
import { type DimseGateway, startDimse } from '../../dimse/gateway.ts';
import type { CalledNode } from '../../dimse/network/dial.ts';
import type { Reception } from '../../dimse/receive/storage-scp.ts';
import { httpAccess } from '../../fhir/client/authorization.ts';
import { serviceRequestWorklist } from '../../fhir/match/service-request-worklist.ts';
import { objectsOnDisk } from '../../src/core/files/received-objects.ts';
import type { RequestStatus, SubmitCommand } from '../../src/core/requests/request.ts';
import { findStudy } from '../../src/core/studies/study-store.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openDatabase, type PooledDatabase } from '../../src/platform/database/open.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { freshDatabase } from '../peers/database.ts';

type SiteSettings = {
  dicom?: Partial<Config['dicom']>;
  completion?: Source['completion'];
  rules?: unknown[];
  destinations?: unknown[];
  rerun?: Source['rerun'];
  archives?: unknown[];
  worklists?: unknown[];
  /** Settings for the HL7 version 2 listener, which the test starts itself. */
  hl7v2?: unknown;
  orderSeconds?: number;
};

type Submitted = SubmitCommand & { studyInstanceUid: string | undefined };

/**
 * A gateway that receives on a free port. It has its own database, a clock that the test can set,
 * and a core that only records.
 */
export interface Site {
  config: Config;
  database: PooledDatabase;
  gateway: Omit<DimseGateway, 'door'> & Partial<DimseGateway>;
  node: CalledNode;
  submitted: Submitted[];
  forwarded: { instances: readonly string[]; destinations: readonly string[] }[];
  /** The outcome of each object that was sent, as counted in the metrics. */
  receptions: Reception['outcome'][];
  /** Called before the core answers. A request is refused by throwing. */
  onSubmit: (command: SubmitCommand) => void | Promise<void>;
  /** Status and result returned for every request. */
  looked: { status: RequestStatus; result: unknown };
  pass(seconds: number): void;
  /** Restarts the listener and the assembly on the same data with other settings. */
  restart(dicom?: Partial<Config['dicom']>): Promise<void>;
  close(): Promise<void>;
}

export async function openSite(settings: SiteSettings = {}): Promise<Site> {
  const fresh = await freshDatabase();
  const { dataDir } = fresh.settings;
  const config = loadConfig(
    {},
    {
      dataDir,
      dicom: { host: '127.0.0.1', port: 0, ...settings.dicom },
      sources: [
        {
          name: 'this-machine',
          callingAeTitles: ['*'],
          addresses: ['127.0.0.0/8'],
          rerun: settings.rerun ?? 'when-content-changed',
          completion: settings.completion ?? {
            signal: 'quiet-time',
            quietSeconds: 30,
            afterReleaseSeconds: 5,
          },
        },
      ],
      destinations: settings.destinations ?? [],
      archives: settings.archives ?? [],
      orders: { worklists: settings.worklists ?? [], waitSeconds: settings.orderSeconds ?? 120 },
      ...(settings.hl7v2 ? { hl7v2: settings.hl7v2 } : {}),
      ...(settings.rules ? { routing: { rules: settings.rules } } : {}),
    },
  );
  const database = await openDatabase({ ...fresh.settings, logger: silentLogger });
  await migrate(database);

  let offset = 0;
  const now = () => new Date(Date.now() + offset);
  const submitted: Submitted[] = [];
  const forwarded: Site['forwarded'] = [];
  const receptions: Site['receptions'] = [];
  const certificates = new ClientCertificates();
  const start = (dicom: Partial<Config['dicom']> = {}) =>
    startDimse({
      config: { ...config, dicom: { ...config.dicom, ...dicom } },
      database,
      objects: objectsOnDisk(dataDir),
      onReception: (_peer, { outcome }) => {
        receptions.push(outcome);
      },
      logger: silentLogger,
      now,
      forward: async (instances, destinations) => {
        forwarded.push({ instances, destinations });
      },
      submit: async (command) => {
        await site.onSubmit(command);
        const { source } = command;
        const id = source.kind === 'dicom' ? source.study : '';
        const study = await findStudy(database, id);
        submitted.push({ ...command, studyInstanceUid: study?.study_instance_uid });
        return { id: `req_${command.uniqueKey}`, status: site.looked.status };
      },
      result: async () => site.looked.result,
      archiveAccess: httpAccess(certificates),
      certificates,
      fhirWorklist: serviceRequestWorklist,
    });
  const nodeAt = (port: number): CalledNode => ({
    host: '127.0.0.1',
    port,
    aeTitle: config.dicom.aeTitle,
    callingAeTitle: 'CART',
    timeoutSeconds: 20,
  });

  const site: Site = {
    config,
    database,
    gateway: { port: 0, close: async () => {} },
    node: nodeAt(0),
    submitted,
    forwarded,
    receptions,
    onSubmit: () => {},
    looked: { status: 'queued', result: null },
    pass(seconds) {
      offset += seconds * 1000;
    },
    async restart(dicom) {
      await site.gateway.close();
      site.gateway = await start(dicom);
      site.node = nodeAt(site.gateway.port);
    },
    async close() {
      await site.gateway.close();
      await database.close();
      await fresh.remove();
    },
  };
  site.gateway = await start();
  site.node = nodeAt(site.gateway.port);
  return site;
}
