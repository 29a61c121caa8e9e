-- What the creator of a workitem stated about it (UPS, PS3.4 CC.2.5). `request_id` is the request
-- that performs it. A request made in another way is shown as a workitem too, but has no row here.
CREATE TABLE workitems (
  request_id text PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE,
  -- DICOM JSON model (PS3.18 F); may contain the identity of the patient.
  attributes jsonb NOT NULL DEFAULT '{}',
  -- Scheduled Procedure Step Start DateTime (0040,4005), in a form that can be compared.
  start_at timestamptz,
  -- The last request to cancel the workitem (PS3.4 CC.2.2); null if there was none.
  cancellation jsonb,
  changed_at timestamptz NOT NULL
);

-- Which AEs receive event reports (PS3.4 CC.2.3). `target` is the UID of a workitem, or the
-- well-known UID of the worklist.
CREATE TABLE workitem_subscriptions (
  account_id text NOT NULL,
  ae_title text NOT NULL,
  target text NOT NULL,
  -- False if the AE unsubscribed from this workitem while it is subscribed to the worklist.
  subscribed boolean NOT NULL,
  deletion_lock boolean NOT NULL,
  -- For the worklist only: workitems created after this time are not included.
  suspended_at timestamptz,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, ae_title, target)
);
