# What stands before the text of a mixed-mode file: it marks in the output which line of the file
# each part comes from. A mark is a byte 0x1E, a letter, the number of the line and a byte 0x1F.
#   c  text of the file follows, from this line on: each line end leads to the next line
#   p  text follows that the code at this line prints
#   x  the code ended the script at this line
package Thalweg::Output;

my ($file, $out);

sub begin {
    ($file, my $seconds, my $parent, my $prctl) = @_;
    # The script ends with the thread that started it, killed by the system (PR_SET_PDEATHSIG, SIGKILL):
    # it is in a process group of its own, which neither Ctrl-C nor the end of the parent reaches.
    syscall($prctl, 1, 9) if $prctl;
    CORE::exit(1) if getppid() != $parent;
    open($out, '>&', \*STDOUT) or die "cannot write: $!\n";
    my $selected = select($out);
    $| = 1;
    select($selected);
    tie(*STDOUT, __PACKAGE__);
    # Where that cannot be had, the script does not outlive whoever started it by more than this.
    alarm($seconds);
    $SIG{__DIE__} = sub { mark('x') unless $^S || !defined $^S };
}

# The line of the file that is being run: that of the nearest caller in it.
sub here {
    for (my $at = 0; my @frame = caller($at); $at++) {
        return $frame[2] if $frame[1] eq $file;
    }
    return 0;
}

sub mark {
    my ($kind, $line) = @_;
    $line = here() unless defined $line;
    local ($,, $\);
    print {$out} "\x1e$kind$line\x1f";
}

# Text of the file, as bytes. It goes where the code prints to.
sub copy {
    my ($line, $text) = @_;
    my $selected = select();
    if ($selected eq 'main::STDOUT') {
        # Where the code prints characters, the bytes of the file are not written twice encoded.
        utf8::decode($text) if grep { $_ eq 'utf8' } PerlIO::get_layers($out, output => 1);
        mark('c', $line);
        write_out($text);
    } else {
        local ($,, $\);
        print {$selected} $text;
    }
}

# The value of an expression.
sub value {
    my $text = join('', map { defined $_ ? $_ : '' } @_);
    my $selected = select();
    local ($,, $\);
    print {$selected} $text;
}

sub write_out {
    local ($,, $\);
    print {$out} @_;
}

sub TIEHANDLE { return bless {}, shift }

sub PRINT {
    my $self = shift;
    my $text = join(defined $, ? $, : '', map { defined $_ ? $_ : '' } @_);
    $text .= $\ if defined $\;
    mark('p');
    return write_out($text);
}

sub PRINTF {
    my ($self, $format, @values) = @_;
    mark('p');
    return write_out(sprintf($format, @values));
}

sub WRITE {
    my ($self, $text, $length, $offset) = @_;
    $offset = 0 unless defined $offset;
    $text = substr($text, $offset, defined $length ? $length : length($text));
    mark('p');
    write_out($text);
    return length($text);
}

sub BINMODE {
    my ($self, $layer) = @_;
    return defined $layer ? binmode($out, $layer) : binmode($out);
}

sub FILENO { return fileno($out) }

sub CLOSE { return 1 }

# Before any of the code runs, the code of BEGIN blocks included.
BEGIN {
    *CORE::GLOBAL::exit = sub (;$) {
        Thalweg::Output::mark('x');
        CORE::exit(@_ ? $_[0] : 0);
    };
}

package main;
