"""The engine's scheduler, with a way out for requests whose client has gone."""

from implementations.itl.scheduler import Request, Scheduler


class AbortingScheduler(Scheduler):
    """A scheduler that can also forget a request, wherever it stands."""

    def abort(self, request: Request) -> bool:
        """Take a request out of the engine and its blocks back into the pool.

        Args:
            request: waiting, running or evicted.

        Returns:
            Whether it was still there.
        """
        for queue in (self.waiting, self.running, self.evicted):
            if request in queue:
                queue.remove(request)
                self._release(request)
                return True
        return False
