-- What the creator of a workitem stated about it (UPS, PS3.4 CC.2.5), by the request that performs it.
-- A request that was made in another way has no row here, and is a workitem all the same.
CREATE TABLE workitems (
  request_id text PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE,
  -- DICOM JSON model (PS3.18 F); may contain the identity of the patient.
  attributes jsonb NOT NULL DEFAULT '{}',
  -- Scheduled Procedure Step Start DateTime (0040,4005) as a time that can be compared.
  start_at timestamptz,
  -- The last request to cancel the workitem (PS3.4 CC.2.2); null: nobody asked.
  cancellation jsonb,
  changed_at timestamptz NOT NULL
);

-- Who receives event reports (PS3.4 CC.2.3). `target` is the UID of a workitem, or the well-known
-- UID of the worklist.
CREATE TABLE workitem_subscriptions (
  account_id text NOT NULL,
  ae_title text NOT NULL,
  target text NOT NULL,
  -- False: events of this workitem are not sent although the worklist is subscribed to.
  subscribed boolean NOT NULL,
  deletion_lock boolean NOT NULL,
  -- Of the worklist only: workitems made later are not subscribed to.
  suspended_at timestamptz,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, ae_title, target)
);
