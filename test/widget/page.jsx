/** The page of an integrator: the widget alone, with what the test wishes of it, and an own back end that gives tokens. */
import { CarbonConnect } from 'carbon-connect';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

const { customer, ...wishes } = globalThis.wishes;
globalThis.told = [];

const tokenFetcher = async () => (await fetch(`/token?${new URLSearchParams({ customer })}`)).json();
const tell = (data) => globalThis.told.push(data);

function Page() {
  const [open, setOpen] = useState(true);
  return (
    <CarbonConnect
      orgName="Harbour"
      brandIcon="/brand.svg"
      tokenFetcher={tokenFetcher}
      onSuccess={tell}
      onError={tell}
      open={open}
      setOpen={setOpen}
      {...wishes}
    />
  );
}

createRoot(document.getElementById('root')).render(<Page />);
